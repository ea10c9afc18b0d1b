import { existsSync, lstatSync, rmdirSync, rmSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ELSEWHERE_FILES } from "../core/permission/limits.ts";
import { makeOwnDirectory, readOwnFile, removeOwn, writeOwnFile } from "../process/own-files.ts";
import { mountPoints } from "./mount-points.ts";

/**
 * While a command runs, the CLI's sandbox puts empty files in place of some missing ones, so that the command can't
 * create them. It removes them afterwards, unless it is killed. Git would fail on them.
 */
const STUBS = [
  ...ELSEWHERE_FILES,
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
/** Remain when the CLI ends. */
const LEFT = [".claude/.cc-writes", ".claude"];
const LEFT_IN_GIT = [
  "config.worktree",
  "glab-cli",
  "remotes",
  "branches",
  "worktrees",
  "info/.claude-sandbox-noreplace",
  "objects/info/alternates",
  "objects/info/.claude-sandbox-noreplace",
  "objects/info/commit-graphs",
  "objects/info/commit-graphs/.claude-sandbox-noreplace",
];
/** Prevents git from changing its settings while a command runs. */
const LOCKS = ["config.lock"];
/** The mode of files that bubblewrap creates to mount over. */
const STUB_MODE = 0o444;

interface Expected {
  /** The HOME of the agent's commands: git's ignore settings are there. */
  readonly home: string;
  /** Paths that the sandboxes of servers reserve. */
  readonly covers?: readonly string[];
  /** Further paths that commands must not create. */
  readonly configuration?: readonly string[];
  readonly gitDirectories?: readonly string[];
}

/** Absolute paths that did not exist before. */
interface Absent {
  /** Created for a command or a server, and removed after it. */
  readonly brief: readonly string[];
  /** Created by the CLI at its start, and needed until it ends: without them, git complains in each command. */
  readonly lasting: readonly string[];
}

/**
 * What a session's sandboxes may leave in its workspace, and in the repository that it is a worktree of. Recorded
 * before use, for cleanup after a kill.
 */
export class Stubs {
  readonly #list: string;
  readonly #cwd: string;
  /** Something may have been created since the last sweep. Otherwise existing files are not this session's. */
  #isUsed = true;

  constructor({ stateDir, cwd }: { readonly stateDir: string; readonly cwd: string }) {
    this.#cwd = cwd;
    this.#list = join(stateDir, "sandbox-stubs.json");
    this.sweepAll();
  }

  /** Records missing paths before the first sandbox is created. */
  expect({ home, covers = [], configuration = [], gitDirectories = [] }: Expected): void {
    const [repository, ...worktrees] = gitDirectories;
    // The CLI also handles the main checkout of a worktree.
    const checkouts = [this.#cwd, ...(worktrees.length > 0 && repository !== undefined ? [dirname(repository)] : [])];
    const before = read(this.#list);
    const absent: Absent = {
      brief: unique([
        ...before.brief,
        ...absentIn(checkouts, STUBS),
        ...absentIn(gitDirectories, LOCKS),
        ...[...covers, ...configuration].filter((path) => !existsSync(path)),
      ]),
      lasting: unique([...before.lasting, ...absentIn(checkouts, LEFT), ...absentIn(gitDirectories, LEFT_IN_GIT)]),
    };
    writeOwnFile(this.#list, JSON.stringify(absent));
    // Commands may write there.
    const settings = makeOwnDirectory(dirname(home), basename(home), ".config", "git");
    const names = [...STUBS, ...configuration.flatMap((path) => relativeTo(this.#cwd, path))];
    const ignored = [...new Set(names)].filter((name) => !existsSync(join(this.#cwd, name)));
    writeOwnFile(join(settings, "ignore"), ignored.map((name) => `/${name}\n`).join(""));
    this.#isUsed = true;
  }

  /** Call this before a command may run. */
  markUsed(): void {
    this.#isUsed = true;
  }

  /** At the end of a turn. */
  sweep(): void {
    if (!this.#isUsed) return;
    this.#isUsed = removeMatching(read(this.#list).brief, wasMadeToBeCovered) > 0;
  }

  /** When the process has ended, or by the next one after a kill. */
  sweepAll(): void {
    this.sweep();
    const left = removeMatching(read(this.#list).lasting, isEmpty);
    if (left === 0 && !this.#isUsed) removeOwn(this.#list);
  }
}

/** Removes the stubs among these paths, and returns how many had to stay. */
export function removeStubs(paths: readonly string[]): number {
  return removeMatching(paths, wasMadeToBeCovered);
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}

function relativeTo(directory: string, path: string): string[] {
  return path.startsWith(`${directory}/`) ? [path.slice(directory.length + 1)] : [];
}

function absentIn(places: readonly string[], names: readonly string[]): string[] {
  return places.flatMap((place) => names.map((name) => join(place, name))).filter((path) => !existsSync(path));
}

/**
 * Removes stubs, and returns how many had to stay. Mounts of some process stay, because removing the path would remove
 * the mount: a command of another session in the same directory would no longer be confined.
 */
function removeMatching(paths: readonly string[], isStub: (stats: Stats) => boolean): number {
  const found = paths.filter((path) => {
    const stats = lookAt(path);
    return stats !== undefined && (stats.isDirectory() || isStub(stats));
  });
  if (found.length === 0) return 0;
  const mounts = mountPoints();
  // Nested paths come first.
  for (const path of found.toSorted((a, b) => b.length - a.length)) if (!mounts.has(path)) remove(path);
  return found.filter((path) => mounts.has(path)).length;
}

/** A person's own empty file has another mode. */
function wasMadeToBeCovered(stats: Stats): boolean {
  return isEmpty(stats) && (stats.mode & 0o777) === STUB_MODE;
}

function isEmpty(stats: Stats): boolean {
  return stats.isFile() && stats.size === 0;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function remove(path: string): void {
  try {
    if (lstatSync(path).isDirectory()) rmdirSync(path);
    else rmSync(path);
  } catch {
    // Someone put something into it, or it can't be removed: an empty file does no harm.
  }
}

function read(list: string): Absent {
  try {
    const { brief = [], lasting = [] } = JSON.parse(readOwnFile(list) ?? "{}") as Partial<Absent>;
    return { brief, lasting };
  } catch {
    return { brief: [], lasting: [] };
  }
}
