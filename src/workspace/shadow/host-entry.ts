import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { ApplyRequest } from "../../core/ports/workspace.ts";
import { type BytePath, bytePath, pathOnDisk, parentsOf, bytePathText } from "./paths.ts";

/** The location of a workspace file on the host. */
export interface HostEntry {
  /** Nothing outside of it is ever touched. */
  readonly root: string;
  /** Relative to the root. */
  readonly path: BytePath;
  /** Whether its own mount, or another one that contains the location, is read-only. */
  readonly readOnly: boolean;
}

export type HostMap = (path: BytePath) => HostEntry | undefined;

/** Maps a path to the host by the mount with the longest matching target. */
export function hostMap(mounts: ApplyRequest["mounts"], source: string): HostMap {
  const all = mounts.length === 0 ? [{ source, target: ".", readOnly: false }] : mounts;
  const known = all
    .map((mount) => ({ ...mount, target: normal(mount.target), isFile: isFile(mount.source) }))
    .toSorted((a, b) => b.target.length - a.target.length);
  const find: HostMap = (path) => {
    for (const { source, target, readOnly, isFile } of known) {
      if (isFile && path === target)
        return { root: dirname(source), path: bytePath(source.slice(source.lastIndexOf(sep) + 1)), readOnly };
      if (isFile) continue;
      if (target === "") return { root: source, path, readOnly };
      if (path.startsWith(`${target}/`)) return { root: source, path: path.slice(target.length + 1), readOnly };
    }
    return undefined;
  };
  const readOnly = all.filter((mount) => mount.readOnly).map(({ source }) => bytePath(source));
  return (path) => {
    const place = find(path);
    if (place === undefined || place.readOnly) return place;
    const onHost = `${bytePath(place.root)}/${place.path}`;
    // A source that merely contains the mount does not count.
    const hits = (source: string): boolean => source.length >= bytePath(place.root).length && contains(source, onHost);
    return { ...place, readOnly: readOnly.some(hits) };
  };
}

function contains(directory: BytePath, path: BytePath): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** `cleared`: a deletion will free the path first. `blocked` says why nothing may be written. */
export type WriteAccess = "open" | "cleared" | { readonly blocked: string };

/**
 * Not through a link, which may lead anywhere, and not into git's directories, where a hook or a setting can run a
 * program. `removed` are the files, relative to the root, that will be gone by then.
 */
export function wayTo({ root, path }: HostEntry, isRemoved: (path: BytePath) => boolean): WriteAccess {
  if (isOfGit(`${bytePath(root)}/${path}`)) return { blocked: "it is in a .git directory" };
  for (const parent of parentsOf(path)) {
    const place = pathOnDisk(root, parent);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return "open";
    if (stats.isDirectory()) continue;
    if (isRemoved(parent)) return "cleared";
    const what = stats.isSymbolicLink() ? "a link" : "not a directory";
    return { blocked: `${bytePathText(parent)} is ${what} on the host` };
  }
  return "open";
}

/** Why a link must not be created at a place, or undefined. */
export function linkObstacle({ root, path }: HostEntry, target: BytePath): string | undefined {
  const start = bytePath(root);
  const out = `it is a link to ${bytePathText(target)}, which leads out of ${root}`;
  const intoGit = `it is a link to ${bytePathText(target)}, which is in a .git directory`;
  const isAbsolute = target.startsWith("/");
  if (isAbsolute && !contains(start, target)) return out;
  const rest = isAbsolute ? target.slice(start.length) : target;
  if (isOfGit(rest)) return intoGit;
  const steps = rest.split("/").filter((step) => step !== "" && step !== ".");
  const down = steps.slice(steps.findLastIndex((step) => step === "..") + 1);
  const up = steps.length - down.length;
  const parents = isAbsolute ? [] : path.split("/").slice(0, -1);
  // After a name, `..` would go up from the target of a link of that name.
  if (up > parents.length || steps.slice(0, up).some((step) => step !== "..")) return out;
  const real = realAsFar(root, [...parents.slice(0, parents.length - up), ...down]);
  const realRoot = bytePath(realpathSync(root));
  if (real === undefined || !contains(realRoot, real)) return out;
  return isOfGit(real.slice(realRoot.length)) ? intoGit : undefined;
}

/** Resolves links as far as the path exists; undefined behind a broken link. */
function realAsFar(root: string, steps: readonly BytePath[]): BytePath | undefined {
  for (let count = steps.length; count > 0; count -= 1) {
    const place = pathOnDisk(root, steps.slice(0, count).join("/"));
    try {
      if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) return realpathSync(place, { encoding: "latin1" });
    } catch {
      return undefined;
    }
  }
  return bytePath(realpathSync(root));
}

/** In any spelling, because some file systems ignore case. */
export function isOfGit(path: BytePath): boolean {
  return /(^|\/)\.git(\/|$)/i.test(path);
}

function isFile(source: string): boolean {
  const stats = statSync(source, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new CapstanError(
      "workspace_invalid",
      `The source ${source} no longer exists. Restore it, or export the files.`,
      {
        data: { source },
      },
    );
  return !stats.isDirectory();
}

function normal(target: string): BytePath {
  return bytePath(target)
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}
