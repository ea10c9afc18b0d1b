import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ToolContent } from "../../../core/events/content.ts";
import { MAX_OUTPUT_BYTES } from "../../../core/tool-output/tool-outputs.ts";

/** How many characters the CLI passes on when a command fails. */
const SHOWN_CHARACTERS = 10_000;
/** How much of each end of an output is kept, with room for secrets at the cut. */
const PART_BYTES = MAX_OUTPUT_BYTES / 2 + 256 * 1024;
/** How much of an output's start is compared with what the CLI passes on. */
const COMPARED_BYTES = 64 * 1024;
const COMPARED_TAIL = 1_000;
const KEPT = "output-";

/**
 * Lines of a shell script that run `program` with the script's arguments and exit with its code. When it fails, they
 * first copy its output to `directory`: the CLI deletes its own output file before it reports how the command ended. In
 * a very long output, the middle becomes a hole of the same size. If the directory is not writable, as in a sandbox, or
 * stdout and stderr are not the same file, the script is replaced by `program`.
 */
export function keepingOutput(program: string, { directory, path }: { directory: string; path: string }): string {
  return `kept=${directory}
if ! [ -w "$kept" ] || ! [ -f /proc/$$/fd/1 ] || ! [ /proc/$$/fd/1 -ef /proc/$$/fd/2 ]; then exec ${program} "$@"; fi
# The time limit of the CLI ends the command, and not what keeps its output.
trap : TERM
# The shell itself would say in the output that the command was killed.
exec 2>/dev/null
(exec ${program} "$@" 2>&1)
code=$?
if [ "$code" -ne 0 ]; then
  (
    PATH=${path}
    written=/proc/$$/fd/1
    size=$(wc -c <$written)
    if [ "$size" -gt ${SHOWN_CHARACTERS} ]; then
      part=$(mktemp "$kept/part-XXXXXX")
      if [ "$size" -le ${2 * PART_BYTES} ]; then
        cat $written >"$part"
      else
        head -c ${PART_BYTES} $written >"$part"
        truncate -s $((size - ${PART_BYTES})) "$part"
        tail -c ${PART_BYTES} $written >>"$part"
      fi && mv "$part" "$kept/${KEPT}\${part##*-}"
    fi
  ) >/dev/null
fi
exit "$code"
`;
}

const CUT = /\n\n\.\.\. \[(\d+) characters truncated\] \.\.\.\n\n/;
const BEFORE_OUTPUT = /^Exit code \d+\n(?:Command (?:timed out|killed)[^\n]*\n)?/;
/** Milliseconds. A command stopped by its time limit ends shortly after the CLI reports it. */
const LATE_MS = 2_000;
const BETWEEN_LOOKS_MS = 20;

/**
 * What the model sees of an output that the CLI truncated: its start, and a part that begins `left` characters later.
 */
interface Shown {
  readonly start: string;
  readonly left: number;
  readonly tail: string;
  /** The CLI has stopped the command, which may still be ending. */
  readonly mayBeLate: boolean;
}

/** The outputs of failed commands that one process's shells keep. */
export class FailedOutputs {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The file with the whole output of a failed command, found by what the model sees of it. A file that does not match
   * is never used, regardless of who created it. The caller removes the file.
   */
  async find(content: ToolContent): Promise<string | undefined> {
    const shown = shownOf(content);
    if (shown === undefined) return undefined;
    for (let waited = 0; waited <= LATE_MS; waited += BETWEEN_LOOKS_MS) {
      const found = this.#files().find((file) => agrees(file, shown));
      if (found !== undefined) return found;
      if (waited === 0 && !shown.mayBeLate) return undefined;
      await pause(BETWEEN_LOOKS_MS);
    }
    return undefined;
  }

  #files(): string[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => name.startsWith(KEPT));
      return names.map((name) => join(this.#directory, name));
    } catch {
      return [];
    }
  }
}

/** Call this once the output has been copied. */
export function forgetOutput(file: string): void {
  rmSync(file, { force: true });
}

function shownOf(content: ToolContent): Shown | undefined {
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  const [before] = BEFORE_OUTPUT.exec(text) ?? [];
  const cut = CUT.exec(text);
  if (before === undefined || cut === null) return undefined;
  return {
    start: text.slice(before.length, cut.index),
    left: Number(cut[1]),
    tail: text.slice(cut.index + cut[0].length).slice(0, COMPARED_TAIL),
    mayBeLate: before.includes("\nCommand "),
  };
}

function agrees(file: string, { start, left, tail }: Shown): boolean {
  const written = startOf(file);
  const at = start.length + left;
  return written !== undefined && written.startsWith(start) && written.slice(at, at + tail.length) === tail;
}

/** Undefined unless it is a regular file owned by this user, with a single link. */
function startOf(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.nlink !== 1 || stats.uid !== process.getuid?.()) return undefined;
    const bytes = new Uint8Array(COMPARED_BYTES);
    return Buffer.from(bytes.subarray(0, readSync(file, bytes))).toString("utf8");
  } finally {
    closeSync(file);
  }
}
