import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { CapstanError } from "../core/errors.ts";

/** The host's directories that decide what a session may touch. */
export interface HostDirectories {
  /** The directory of the sessions' workspaces. */
  readonly root: string;
  /** What may be mounted or cloned, besides the directory a session is started in. */
  readonly mountRoots: readonly string[];
  /** The user's home directory, if there is one. */
  readonly home: string | undefined;
  readonly capstanHome: string;
}

export function liesIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** Resolves a path from `~`, or relative to the directory the session is started in. */
export function absolute(written: string, source: string, home: string | undefined): string {
  if (written !== "~" && !written.startsWith("~/")) return resolve(source, written);
  if (home === undefined)
    throw new CapstanError(
      "workspace_invalid",
      `${JSON.stringify(written)} begins with ~, but the home directory is unknown. Write the full path.`,
    );
  return join(home, written.slice(1));
}

/** Resolves links as far as the path exists; the rest stays as written. */
export async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realDirectory(parent), basename(path));
  }
}

/** Why no agent should get this directory, or undefined. `path` has its links resolved. */
export async function guardReason(path: string, places: HostDirectories): Promise<string | undefined> {
  if (path === "/") return "it is the root directory of the machine";
  if (places.home !== undefined) {
    const home = await realDirectory(places.home);
    if (path === home) return "it is your home directory";
    if (liesIn(home, path)) return `it contains your home directory ${home}`;
  }
  for (const own of [places.capstanHome, places.root]) {
    const real = await realDirectory(own);
    if (path === real) return "it contains Capstan's own files";
    if (liesIn(path, real)) return `it is inside ${real}, which contains Capstan's own files`;
    if (liesIn(real, path)) return `it contains Capstan's own files, in ${real}`;
  }
  return undefined;
}

/** Fails closed: without roots, only paths in the directory the session is started in are allowed. */
export async function isAllowed(path: string, source: string, places: HostDirectories): Promise<boolean> {
  for (const root of [source, ...places.mountRoots])
    if (isAbsolute(root) && liesIn(path, await realDirectory(root))) return true;
  return false;
}
