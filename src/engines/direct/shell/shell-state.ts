import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { problemWithVariable } from "../../../core/gateway-variables.ts";
import { isInside } from "../../../core/inside.ts";
import { changesWhatRuns, isIdentifier } from "../../../core/shell/variables.ts";

/**
 * What a command leaves to the next one of its thread. The agent's processes say what it is, so it is data that is
 * checked when it comes and again when it is used: rules read a command without it. A variable that changes what a
 * command runs is never kept, and a directory is kept only within the workspace, and told to whoever decides a call.
 */
export interface ThreadState {
  /** Without links. Absent: the workspace. */
  readonly directory?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

const storedState = z.record(
  z.string(),
  z.object({ directory: z.string().optional(), variables: z.record(z.string(), z.string()) }),
);

/** So much may all variables of a thread hold together, in characters; no program could be started with much more. */
const MAX_CHARACTERS = 100_000;
const EMPTY: ThreadState = { variables: {} };
const PRIMARY = "primary";
/** Bash sets these itself. */
const OF_THE_SHELL = ["_", "PWD", "OLDPWD", "SHLVL"];
const FUNCTION = /^BASH_FUNC_(.+)%%$/;

/** Kept in a file, for the session's next process. */
export class ShellState {
  readonly #file: string;
  readonly #workspace: string;
  readonly #threads: Map<string, ThreadState>;

  constructor({ stateDir, cwd }: { readonly stateDir: string; readonly cwd: string }) {
    this.#file = join(stateDir, "shell", "state.json");
    this.#workspace = realpathSync(cwd);
    this.#threads = new Map(Object.entries(read(this.#file)));
  }

  get workspace(): string {
    return this.#workspace;
  }

  of(threadId: string | undefined): ThreadState {
    const { directory, variables } = this.#threads.get(threadId ?? PRIMARY) ?? EMPTY;
    return {
      ...(directory !== undefined && this.#isKept(directory) && { directory }),
      variables: Object.fromEntries(Object.entries(variables).filter(([name]) => isKept(name))),
    };
  }

  /**
   * Takes over what a command changed of what it was started with, and returns what the model must know of it. Commands
   * that run side by side change one state: the last one to end counts.
   */
  change(
    threadId: string | undefined,
    { given, directory, saved }: { given: Readonly<Record<string, string>>; directory: string; saved: Buffer },
  ): readonly string[] {
    const before = this.of(threadId);
    const now = new Map(entriesOf(saved));
    const notes: string[] = [];
    const variables = { ...before.variables };
    const unkept: string[] = [];
    for (const [name, value] of now) {
      if (given[name] === value) continue;
      if (isKept(name)) variables[name] = value;
      else if (!OF_THE_SHELL.includes(name)) unkept.push(FUNCTION.exec(name)?.[1] ?? name);
    }
    for (const name of Object.keys(given)) if (!now.has(name)) delete variables[name];
    const size = Object.entries(variables).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (size > MAX_CHARACTERS)
      notes.push(
        `The exported variables are larger than ${MAX_CHARACTERS} characters, so changes to them were not kept.`,
      );
    if (unkept.length > 0)
      notes.push(`Not kept for later commands: ${unkept.join(", ")}. Set it in the command that needs it.`);
    const pwd = now.get("PWD") ?? directory;
    const moved = pwd === directory ? before.directory : this.#within(pwd);
    if (pwd !== directory && moved === undefined && realOf(pwd) !== this.#workspace)
      notes.push(`Shell cwd was reset to ${this.#workspace}`);
    this.#threads.set(threadId ?? PRIMARY, {
      ...(moved !== undefined && { directory: moved }),
      variables: size > MAX_CHARACTERS ? before.variables : variables,
    });
    this.#write();
    return notes;
  }

  /** The next command of the thread starts in the workspace. */
  leaveDirectory(threadId: string | undefined): void {
    this.#threads.set(threadId ?? PRIMARY, { variables: this.of(threadId).variables });
    this.#write();
  }

  #within(path: string): string | undefined {
    const real = realOf(path);
    return real !== undefined && real !== this.#workspace && this.#isKept(real) ? real : undefined;
  }

  #isKept(directory: string): boolean {
    return isInside(directory, this.#workspace);
  }

  #write(): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(`${this.#file}.new`, JSON.stringify(Object.fromEntries(this.#threads)), { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // The disk is full. This process remembers; the session's next one begins with less.
    }
  }
}

function isKept(name: string): boolean {
  return (
    isIdentifier(name) &&
    !changesWhatRuns(name) &&
    problemWithVariable(name) === undefined &&
    !OF_THE_SHELL.includes(name)
  );
}

/** Names that are no identifiers, such as those of exported functions, are read and never kept. */
function entriesOf(saved: Buffer): (readonly [string, string])[] {
  return saved
    .toString("utf8")
    .split("\0")
    .flatMap((entry) => {
      const at = entry.indexOf("=");
      return at <= 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
    });
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Empty when nothing, or nothing that can be read, was kept. */
function read(file: string): Readonly<Record<string, ThreadState>> {
  try {
    return storedState.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}
