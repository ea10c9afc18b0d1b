import { realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isInside } from "../../../core/paths/is-inside.ts";
import { makeOwnDirectory, readOwnFile, writeOwnFile } from "../../../process/own-files.ts";

const storedState = z.record(z.string(), z.object({ directory: z.string().optional() }));

const STATE = "state.json";
const PRIMARY = "primary";
/** Maximum number of variables that a result names, and maximum length of each name. */
const MOST_NAMES = 50;
const LONGEST_NAME = 100;
/** Variables that bash sets itself. */
const OF_THE_SHELL = ["_", "PWD", "OLDPWD", "SHLVL"];
const FUNCTION = /^BASH_FUNC_(.+)%%$/;

/**
 * The directory that a command leaves to the next one of its thread. The agent's processes report it, so it is
 * untrusted data, checked when it arrives and again when it is used: it is kept only within the workspace, and every
 * decision about a command knows it. Variables are not kept: rules read a command without them, so two calls together
 * could do what one call is not allowed to.
 */
export class ShellState {
  readonly #stateDir: string;
  readonly #workspace: string;
  readonly #directories: Map<string, string>;

  constructor({ stateDir, cwd }: { readonly stateDir: string; readonly cwd: string }) {
    this.#stateDir = stateDir;
    this.#workspace = realpathSync(cwd);
    this.#directories = new Map(read(join(stateDir, "shell", STATE)));
  }

  get workspace(): string {
    return this.#workspace;
  }

  /** Where the next command of a thread starts, with links resolved; undefined for the workspace. */
  directoryOf(threadId: string | undefined): string | undefined {
    const directory = this.#directories.get(threadId ?? PRIMARY);
    return directory !== undefined && isInside(directory, this.#workspace) ? directory : undefined;
  }

  /**
   * Saves where a command ended, and returns notes for the model. Commands that run in parallel change one state: the
   * last one to end wins.
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
      notes.push(`Not kept for later commands: ${listNames(set)}. Set it in the command that needs it.`);
    const pwd = now.get("PWD") ?? directory;
    if (pwd === directory) return notes;
    const real = realOf(pwd);
    const isKept = real !== undefined && real !== this.#workspace && isInside(real, this.#workspace);
    if (!isKept && real !== this.#workspace) notes.push(`Shell cwd was reset to ${this.#workspace}`);
    this.#keep(threadId, isKept ? real : undefined);
    return notes;
  }

  /** Makes the thread's next command start in the workspace. */
  leaveDirectory(threadId: string | undefined): void {
    this.#keep(threadId, undefined);
  }

  #keep(threadId: string | undefined, directory: string | undefined): void {
    if (directory === undefined) this.#directories.delete(threadId ?? PRIMARY);
    else this.#directories.set(threadId ?? PRIMARY, directory);
    const stored = Object.fromEntries([...this.#directories].map(([thread, path]) => [thread, { directory: path }]));
    try {
      writeOwnFile(join(makeOwnDirectory(this.#stateDir, "shell"), STATE), JSON.stringify(stored));
    } catch {
      // The disk is full. This process keeps the state in memory; the session's next process starts without it.
    }
  }
}

/** The names are untrusted: a command can write anything as its state. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => name.slice(0, LONGEST_NAME).toWellFormed());
  return [...shown, ...(names.length > MOST_NAMES ? [`and ${names.length - MOST_NAMES} more`] : [])].join(", ");
}

/** Also reads names that are not identifiers, such as those of exported functions. */
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

/** Empty if nothing readable was saved. */
function read(file: string): (readonly [string, string])[] {
  try {
    const stored = storedState.parse(JSON.parse(readOwnFile(file) ?? "{}"));
    return Object.entries(stored).flatMap(([thread, { directory }]) =>
      directory === undefined ? [] : [[thread, directory] as const],
    );
  } catch {
    return [];
  }
}
