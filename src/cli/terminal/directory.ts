import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { relative, sep } from "node:path";
import type { SessionRecord } from "../../core/ports/store.ts";

/** Whether a session was started or continued in this directory. */
export function isOf({ source, cwd }: Pick<SessionRecord, "source" | "cwd">, directory: string): boolean {
  return isSameDirectory(source, directory) || isSameDirectory(cwd, directory);
}

export function isSameDirectory(one: string, other: string): boolean {
  return one === other || realPath(one) === realPath(other);
}

/** Whether a path is inside a directory. The file need not exist. */
export function isBelow(file: string, directory: string): boolean {
  const path = relative(realPath(directory), realPath(file));
  return path !== ".." && !path.startsWith(`..${sep}`);
}

/** With ~ for the home directory. */
export function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

/** Returns the path itself if it does not exist or is not readable. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
