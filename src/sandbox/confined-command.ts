import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ELSEWHERE_DIRECTORIES, ELSEWHERE_FILES } from "../core/permission/limits.ts";
import { isInside } from "../core/paths/is-inside.ts";
import { isHidden, isSecret, isWritable, type SandboxPlan } from "../core/environment/sandbox.ts";
import { COVER_SYSCTL } from "./bwrap-path.ts";
import { LOOKED_PAST } from "./secrets.ts";
import type { Confinement } from "./support.ts";

/** Sockets of the machine's services, such as Docker's: a program that can talk to them is not confined. */
const SERVICES = "/run";
const ROOT = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...COVER_SYSCTL, "--tmpfs", SERVICES];

/**
 * How a server or a command is started in its own sandbox: it can read what the session's commands can, write what the
 * file tools can, and has no network. Requested domains can't be checked here, so a list of allowed ones grants none.
 */
export function confinedCommand(
  plan: SandboxPlan,
  {
    confine,
    ownDirectory,
    secrets = secretsIn(plan),
  }: {
    readonly confine: readonly string[];
    readonly ownDirectory: string;
    /** Existing secrets of the project (default: searched here). */
    readonly secrets?: readonly string[];
  },
): string[] {
  const { kept, covered } = closedPaths(plan);
  const places: PathLists = {
    denyRead: [...plan.denyRead, ...secrets].flatMap(real),
    allowRead: [...plan.allowRead, ownDirectory].flatMap(real),
    denyWrite: kept,
    allowWrite: [...plan.allowWrite, ownDirectory].flatMap(real),
  };
  return [...confine, "--unshare-net", ...ROOT, ...mounts(places, covered), "--chdir", plan.workspace, "--"];
}

/**
 * How a program of the host is started that only reads, and must not read more than a session's commands. `needed` are
 * its own directories. The caller adds its working directory and `--`.
 */
export function confinedReading(
  { plan, confine }: Confinement,
  { needed }: { readonly needed: readonly string[] },
): string[] {
  const places: PathLists = {
    denyRead: plan.denyRead.flatMap(real),
    allowRead: [...plan.allowRead, ...needed].flatMap(real),
    denyWrite: [],
    allowWrite: [],
  };
  return [...confine, "--unshare-net", ...ROOT, ...mounts(places, [])];
}

/** Secrets of the project that exist when the server starts. */
function secretsIn(plan: SandboxPlan): string[] {
  const findSecrets = (directory: string): string[] =>
    readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return LOOKED_PAST.includes(entry.name) ? [] : findSecrets(path);
      return isSecret(path, plan) ? [path] : [];
    });
  return findSecrets(plan.workspace);
}

/**
 * Missing paths that must not be created: each is an empty directory while a server runs, on the machine too, because a
 * mount needs a target. A directory, because git and checkpoints ignore empty ones.
 */
export function coverOf(plan: SandboxPlan): readonly string[] {
  return closedPaths(plan).covered;
}

type PathLists = Pick<SandboxPlan, "denyRead" | "allowRead" | "denyWrite" | "allowWrite">;

interface ClosedPaths {
  readonly kept: readonly string[];
  readonly covered: readonly string[];
}

/** Paths that a server must not write although they are in a writable directory. */
function closedPaths(plan: SandboxPlan): ClosedPaths {
  const roots = plan.allowWrite.flatMap(real).filter(isDirectory);
  const named = roots.flatMap((root) => [...ELSEWHERE_DIRECTORIES, ...ELSEWHERE_FILES].map((name) => join(root, name)));
  const closed = [...plan.denyWrite, ...plan.configuration, ...named];
  const kept = unique(closed.flatMap(real));
  const absent = closed.flatMap(firstAbsent);
  // Commands may create a repository where there is none, so the path is left to them.
  const covered = absent.filter(
    (path) =>
      basename(path) !== ".git" &&
      isWritable(path, { allowWrite: roots, denyWrite: kept }) &&
      !isHidden(dirname(path), plan),
  );
  return { kept, covered: unique(covered) };
}

/** From the root downwards: nested paths are mounted over their parents. */
function mounts(places: PathLists, covered: readonly string[]): string[] {
  const paths = [...Object.values(places).flat(), ...covered];
  const holding = [...places.denyWrite, ...covered].flatMap((path) => between(path, places.allowWrite));
  return unique([...paths, ...holding])
    .toSorted((a, b) => a.length - b.length)
    .flatMap((path) => {
      if (covered.includes(path)) return ["--tmpfs", path, "--remount-ro", path];
      if (isHidden(path, places)) return isDirectory(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
      return [isWritable(path, places) ? "--bind" : "--ro-bind", path, path];
    });
}

/** A directory that contains a mount could be moved away with it, and recreated; one that is a mount can't. */
function between(path: string, roots: readonly string[]): string[] {
  const parent = dirname(path);
  const isBelow = roots.some((root) => root !== parent && isInside(parent, root));
  return isBelow ? [...between(parent, roots), parent] : [];
}

/** A missing path needs no mount, and neither does a link, because its target has one. */
function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** The first missing component of the path; nothing for a broken link, which no mount can cover. */
function firstAbsent(path: string): string[] {
  if (exists(path)) return [];
  const [parent] = real(dirname(path));
  if (parent === undefined) return firstAbsent(dirname(path));
  return isDirectory(parent) ? [join(parent, basename(path))] : [];
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory();
}
