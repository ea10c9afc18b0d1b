import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { CapstanError } from "../core/errors.ts";

/** The directories of the host that decide what a session may touch. */
export interface HostPlaces {
  /** Where the workspaces of sessions are. */
  readonly root: string;
  /** What may be mounted or cloned, besides the directory a session is started in. */
  readonly mountRoots: readonly string[];
  /** The person's home directory, when there is one. */
  readonly home: string | undefined;
  readonly capstanHome: string;
}

export function liesIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** What a user wrote, as an absolute path: from `~`, or relative to the directory the session is started in. */
export function absolute(written: string, source: string, home: string | undefined): string {
  if (written !== "~" && !written.startsWith("~/")) return resolve(source, written);
  if (home === undefined)
    throw new CapstanError(
      "workspace_invalid",
      `${JSON.stringify(written)} begins with ~, and no home directory is known. Write the path in full.`,
    );
  return join(home, written.slice(1));
}

/** Links resolved as far as the path exists; what does not exist yet is taken as it is written. */
export async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPlace(parent), basename(path));
  }
}

/** Why nobody's agent should get this directory, or undefined. `path` has its links resolved. */
export async function guarded(path: string, places: HostPlaces): Promise<string | undefined> {
  if (path === "/") return "it is the root of the whole machine";
  if (places.home !== undefined) {
    const home = await realPlace(places.home);
    if (path === home) return "it is your home directory, with everything that is yours";
    if (liesIn(home, path)) return `your home directory ${home} lies in it`;
  }
  for (const own of [places.capstanHome, places.root]) {
    const real = await realPlace(own);
    if (path === real) return "Capstan keeps its own files there";
    if (liesIn(path, real)) return `it lies in ${real}, where Capstan keeps its own files`;
    if (liesIn(real, path)) return `Capstan keeps its own files in it, in ${real}`;
  }
  return undefined;
}

/** Fails closed: without roots, only what lies in the directory the session is started in may be taken. */
export async function isAllowed(path: string, source: string, places: HostPlaces): Promise<boolean> {
  for (const root of [source, ...places.mountRoots])
    if (isAbsolute(root) && liesIn(path, await realPlace(root))) return true;
  return false;
}
