import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { relative, sep } from "node:path";
import type { SessionRecord } from "../../core/ports/store.ts";

/** Whether a session was started in this directory, or has gone on there. */
export function isOf({ source, cwd }: Pick<SessionRecord, "source" | "cwd">, directory: string): boolean {
  return isSameDirectory(source, directory) || isSameDirectory(cwd, directory);
}

export function isSameDirectory(one: string, other: string): boolean {
  return one === other || realPath(one) === realPath(other);
}

/** Whether a file is, or would be, below a directory. */
export function isBelow(file: string, directory: string): boolean {
  const path = relative(realPath(directory), realPath(file));
  return path !== ".." && !path.startsWith(`..${sep}`);
}

/** As shells show it. */
export function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

/** One that is gone, or that this user may not look at, has only its name. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
