import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isInside } from "../../../core/paths/inside.ts";

const storedState = z.record(z.string(), z.object({ directory: z.string().optional() }));

const PRIMARY = "primary";
/** Bash sets these itself. */
const OF_THE_SHELL = ["_", "PWD", "OLDPWD", "SHLVL"];
const FUNCTION = /^BASH_FUNC_(.+)%%$/;

/**
 * The directory that a command leaves to the next one of its thread. The agent's processes say what it is, so it is data
 * that is checked when it comes and again when it is used: it is kept only within the workspace, and every decision about a
 * command knows it. Variables are not kept: rules read a command without them, so two calls could do what one may not.
 */
export class ShellState {
  readonly #file: string;
  readonly #workspace: string;
  readonly #directories: Map<string, string>;

  constructor({ stateDir, cwd }: { readonly stateDir: string; readonly cwd: string }) {
    this.#file = join(stateDir, "shell", "state.json");
    this.#workspace = realpathSync(cwd);
    this.#directories = new Map(read(this.#file));
  }

  get workspace(): string {
    return this.#workspace;
  }

  /** Where the next command of a thread starts, without links; undefined for the workspace. */
  directoryOf(threadId: string | undefined): string | undefined {
    const directory = this.#directories.get(threadId ?? PRIMARY);
    return directory !== undefined && isInside(directory, this.#workspace) ? directory : undefined;
  }

  /**
   * Takes over where a command ended, and returns what the model must know. Commands that run side by side change one
   * state: the last one to end counts.
   */
  change(
    threadId: string | undefined,
    { given, directory, saved }: { given: Readonly<Record<string, string>>; directory: string; saved: Buffer },
  ): readonly string[] {
    const now = new Map(entriesOf(saved));
    const notes: string[] = [];
    const set = [...now].flatMap(([name, value]) =>
      given[name] === value || OF_THE_SHELL.includes(name) ? [] : [FUNCTION.exec(name)?.[1] ?? name],
    );
    if (set.length > 0)
      notes.push(`Not kept for later commands: ${set.join(", ")}. Set it in the command that needs it.`);
    const pwd = now.get("PWD") ?? directory;
    if (pwd === directory) return notes;
    const real = realOf(pwd);
    const isKept = real !== undefined && real !== this.#workspace && isInside(real, this.#workspace);
    if (!isKept && real !== this.#workspace) notes.push(`Shell cwd was reset to ${this.#workspace}`);
    this.#keep(threadId, isKept ? real : undefined);
    return notes;
  }

  /** The next command of the thread starts in the workspace. */
  leaveDirectory(threadId: string | undefined): void {
    this.#keep(threadId, undefined);
  }

  #keep(threadId: string | undefined, directory: string | undefined): void {
    if (directory === undefined) this.#directories.delete(threadId ?? PRIMARY);
    else this.#directories.set(threadId ?? PRIMARY, directory);
    const stored = Object.fromEntries([...this.#directories].map(([thread, path]) => [thread, { directory: path }]));
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(`${this.#file}.new`, JSON.stringify(stored), { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // The disk is full. This process remembers; the session's next one begins with less.
    }
  }
}

/** Names that are no identifiers, such as those of exported functions, are read too. */
function entriesOf(saved: Buffer): (readonly [string, string])[] {
  return saved
    .toString("utf8")
    .split("\0")
    .flatMap((entry) => {
      const at = entry.indexOf("=");
      return at <= 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
    });
}

export function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Empty when nothing, or nothing that can be read, was kept. */
function read(file: string): (readonly [string, string])[] {
  try {
    const stored = storedState.parse(JSON.parse(readFileSync(file, "utf8")));
    return Object.entries(stored).flatMap(([thread, { directory }]) =>
      directory === undefined ? [] : [[thread, directory] as const],
    );
  } catch {
    return [];
  }
}
