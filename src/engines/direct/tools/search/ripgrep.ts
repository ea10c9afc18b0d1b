import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { findProgram } from "../../../../process/programs.ts";
import { confinedReading } from "../../../../sandbox/confined-command.ts";
import type { Confinement } from "../../../../sandbox/support.ts";
import { PinnedDirectory } from "../../../../process/pinned.ts";

/** Limit for the output of a search; the rest is dropped. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds. A search that takes longer covers too much. */
const TIMEOUT_MS = 60_000;

export interface Search {
  /** The directory it runs in, with links resolved. */
  readonly directory: string;
  readonly args: readonly string[];
}

export interface Found {
  readonly output: string;
  /** The output exceeded the limit. */
  readonly isCut: boolean;
  /** ripgrep's error, if it could not search at all. */
  readonly problem?: string;
}

/**
 * Runs ripgrep without the machine's configuration and without variables, and ends it with the host. Links are not
 * followed. If the session's commands are confined, so is the search: a link created meanwhile leads no further than a
 * command could go.
 */
export async function runRipgrep(
  { directory, args }: Search,
  { confinement, signal }: { readonly confinement?: Confinement | undefined; readonly signal: AbortSignal },
): Promise<Found> {
  signal.throwIfAborted();
  const [command = "", ...words] = [
    ...wrapper(confinement, directory),
    rgPath,
    "--no-config",
    "--no-follow",
    "--color=never",
    ...args,
  ];
  // Uses the directory itself, even if its path now leads elsewhere. In the sandbox, paths are confined anyway.
  using pinned = PinnedDirectory.open(directory);
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const child = spawn(command, words, {
    cwd: confinement === undefined ? pinned.at(".") : "/",
    env: { LANG: "C.UTF-8" },
    stdio: ["ignore", "pipe", "pipe"],
    killSignal: "SIGKILL",
    signal: AbortSignal.any([signal, late]),
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", (error) => reject(late.aborted ? tooLong() : error));
    child.on("close", resolve);
  });
  const output = new Collected(MAX_BYTES, () => child.kill("SIGKILL"));
  const said = new Collected(MAX_ERROR_BYTES, () => {});
  // Without a free descriptor there are no streams, despite their types; the error follows.
  const { stdout, stderr }: Partial<typeof child> = child;
  stdout?.on("data", (chunk: Buffer) => output.add(chunk));
  stderr?.on("data", (chunk: Buffer) => said.add(chunk));
  const code = await ended;
  // Exit code 2 also means that a part of the search failed: an unreadable file hides no other results.
  const failed = code !== 0 && code !== 1 && !output.isCut && output.isEmpty;
  return { output: output.text, isCut: output.isCut, ...(failed && { problem: said.text.trim() }) };
}

function wrapper(confinement: Confinement | undefined, directory: string): readonly string[] {
  if (confinement !== undefined)
    return [...confinedReading(confinement, { needed: [dirname(rgPath)] }), "--chdir", directory, "--"];
  const setpriv = findProgram("setpriv");
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
}

function tooLong(): Error {
  return new Error(
    `The search took longer than ${TIMEOUT_MS / 1_000} seconds and was stopped. Search a smaller directory, or narrow the pattern.`,
  );
}

class Collected {
  readonly #chunks: Buffer[] = [];
  readonly #most: number;
  readonly #onFull: () => void;
  #length = 0;
  isCut = false;

  constructor(most: number, onFull: () => void) {
    this.#most = most;
    this.#onFull = onFull;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  add(chunk: Buffer): void {
    if (this.isCut) return;
    const room = this.#most - this.#length;
    this.#chunks.push(chunk.subarray(0, room));
    this.#length += Math.min(chunk.length, room);
    if (chunk.length <= room) return;
    this.isCut = true;
    this.#onFull();
  }
}
