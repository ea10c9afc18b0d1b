import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * While a command runs in it, the CLI's sandbox keeps empty files in the place of some that are not there, so that the
 * command cannot make them. It removes them afterwards, unless it is killed. Git would stumble over them meanwhile.
 */
const STUBS = [
  ".gitconfig",
  ".gitmodules",
  ".bashrc",
  ".bash_profile",
  ".zshrc",
  ".zprofile",
  ".profile",
  ".ripgreprc",
  ".mcp.json",
  ".vscode",
  ".idea",
  ...[
    "settings.json",
    "settings.local.json",
    "skills",
    "hooks",
    "launch.json",
    "workflows",
    "routines",
    "output-styles",
    "scheduled_tasks.json",
    "loop.md",
    "commands",
    "agents",
  ].map((name) => `.claude/${name}`),
];
/** Stays when the CLI ends. */
const LEFT_DIRECTORIES = [".claude/.cc-writes", ".claude"];

/** What the sandbox of one session may leave in its workspace. Written down before use, for whoever comes after a kill. */
export class Stubs {
  readonly #list: string;
  readonly #cwd: string;

  constructor({ stateDir, cwd }: { readonly stateDir: string; readonly cwd: string }) {
    this.#cwd = cwd;
    this.#list = join(stateDir, "sandbox-stubs.json");
    this.sweep();
  }

  /** `home` is the HOME of the agent's commands: what git is told to overlook is said there. */
  expect(home: string): void {
    const absent = STUBS.filter((name) => !existsSync(join(this.#cwd, name)));
    writeFileSync(this.#list, JSON.stringify(absent));
    const ignore = join(home, ".config", "git", "ignore");
    mkdirSync(dirname(ignore), { recursive: true, mode: 0o700 });
    writeFileSync(ignore, absent.map((name) => `/${name}\n`).join(""));
  }

  /** Removes what is left: files that were not there before, are empty, and that no agent could have made. */
  sweep(): void {
    const names = read(this.#list);
    if (names.length === 0) return;
    for (const name of names) removeEmpty(join(this.#cwd, name));
    for (const name of LEFT_DIRECTORIES) removeEmptyDirectory(join(this.#cwd, name));
    rmSync(this.#list, { force: true });
  }
}

function removeEmpty(path: string): void {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() === true && stats.size === 0) rmSync(path);
  } catch {
    // It is nothing but an empty file, and what cannot be removed stops nobody.
  }
}

function removeEmptyDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not there, or somebody put something into it.
  }
}

function read(list: string): string[] {
  try {
    return JSON.parse(readFileSync(list, "utf8")) as string[];
  } catch {
    return [];
  }
}
