import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { type Environment, homeDirectory, usualHome } from "./home.ts";
import { KnownProjects } from "./known-projects.ts";
import { requireOwn } from "./require-own.ts";
import { reasonOf } from "../yaml/text-file.ts";

export interface Project {
  /** The directory that contains `.capstan/`, with links resolved; undefined for the default project. */
  readonly root: string | undefined;
  /** `root`, the directory of a former project, or `default`. */
  readonly id: string;
}

const MARKER = ".capstan";

/**
 * The project of a directory: the nearest parent with a directory `.capstan`. The user's Capstan home has that name too
 * and is never a project, whether in use or not. A project whose `.capstan` was removed has no settings any more, but
 * remains the project of its sessions and their spend. Throws `unsafe_owner` if another user could have written its
 * settings: no project is used from a shared directory such as /tmp.
 */
export function findProject(cwd: string, environment: Environment): Project {
  const home = homeDirectory(environment).path;
  const homes = [home, usualHome(environment)].map((one) => one && realPath(one));
  const known = new KnownProjects(home);
  let id: string | undefined;
  for (let directory = startOf(cwd); ; directory = dirname(directory)) {
    const marker = directoryAt(join(directory, MARKER));
    if (marker !== undefined && !homes.includes(marker)) {
      requireOwn(directory, [MARKER, join(MARKER, "config.yaml"), ".env"], environment);
      return { root: directory, id: id ?? directory };
    }
    if (id === undefined && known.isProject(directory)) id = directory;
    if (directory === dirname(directory)) return { root: undefined, id: id ?? "default" };
  }
}

function startOf(cwd: string): string {
  try {
    if (statSync(cwd).isDirectory()) return realpathSync.native(cwd);
  } catch (error) {
    throw missing(cwd, reasonOf(error));
  }
  throw missing(cwd, "it is not a directory");
}

function missing(cwd: string, reason: string): CapstanError {
  return new CapstanError("cwd_missing", `Cannot work in ${cwd}: ${reason}. Choose another directory.`, {
    data: { cwd },
  });
}

/** The real path of a directory; undefined if there is none, or this user can't read it. */
function directoryAt(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync.native(path) : undefined;
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
