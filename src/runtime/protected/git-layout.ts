import { lstatSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/**
 * Git takes a directory for a repository by what is in it, whatever its name: `HEAD` beside `objects` and `refs`, or beside
 * a `commondir` that says where those are. Running git in such a directory, or below it, runs what its settings name.
 */
const HEAD = "head";

/** Names in a repository that make git run something, or that make a directory one. */
const TELLING = new Set([
  HEAD,
  "commondir",
  "config",
  "config.worktree",
  "gitdir",
  "hooks",
  "info",
  "modules",
  "objects",
  "refs",
  "worktrees",
]);

/** Whether a directory with these names in it is a repository to git. */
function isGitLayout(has: (name: string) => boolean): boolean {
  return has(HEAD) && (has("commondir") || (has("objects") && has("refs")));
}

/** The same for a list of the names. */
export function isGitDirectory(names: readonly string[]): boolean {
  const all = new Set(names.map((name) => name.toLowerCase()));
  return isGitLayout((name) => all.has(name));
}

export function isGitHead(path: string): boolean {
  return basename(path).toLowerCase() === HEAD;
}

/** Whether a write to this path changes what such a repository tells git, or completes one. */
export function tellsGit(path: string): boolean {
  for (let directory = dirname(path); directory !== dirname(directory); directory = dirname(directory)) {
    const [first = ""] = relative(directory, path).split("/");
    const made = first.toLowerCase();
    if (TELLING.has(made) && isGitLayout((name) => name === made || exists(join(directory, asWritten(name)))))
      return true;
  }
  return false;
}

function asWritten(name: string): string {
  return name === HEAD ? "HEAD" : name;
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What lies in no directory, or what this user may not look at.
    return false;
  }
}
