import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { type Environment, homeDirectory, usualHome } from "./home.ts";
import { KnownProjects } from "./known-projects.ts";
import { requireOwn } from "./require-own.ts";
import { reasonOf } from "../yaml/text-file.ts";

export interface Project {
  /** The directory that holds `.capstan/`, without symbolic links; undefined for the default project. */
  readonly root: string | undefined;
  /** `root`, the directory of a project that was there before, or `default`. */
  readonly id: string;
}

const MARKER = ".capstan";

/**
 * The project of a directory: the nearest one upwards with a directory `.capstan`. The user's own home directory for
 * Capstan bears that name too and is never taken for a project, in use or not. A project whose `.capstan` is gone has no
 * settings any more, and stays the project of its sessions and their spending. Throws `unsafe_owner` when another user
 * could have written its settings: nobody looks for a project in a shared directory such as /tmp.
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

/** The real path of a directory; undefined when there is none, or when this user may not look. */
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
