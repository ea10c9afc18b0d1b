import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { ApplyRequest } from "../../core/workspace.ts";
import { type BytePath, bytePath, onDisk, parentsOf, shownPath } from "./paths.ts";

/** Where a file of the workspace stands on the host. */
export interface HostPlace {
  /** Nothing outside of it is ever touched. */
  readonly root: string;
  /** Relative to the root. */
  readonly path: BytePath;
  readonly readOnly: boolean;
}

export type HostMap = (path: BytePath) => HostPlace | undefined;

/** The mount with the longest target that a path lies in says where it came from. */
export function hostMap(mounts: ApplyRequest["mounts"], source: string): HostMap {
  const all = mounts.length === 0 ? [{ source, target: ".", readOnly: false }] : mounts;
  const known = all
    .map((mount) => ({ ...mount, target: normal(mount.target), isFile: isFile(mount.source) }))
    .toSorted((a, b) => b.target.length - a.target.length);
  return (path) => {
    for (const { source, target, readOnly, isFile } of known) {
      if (isFile && path === target)
        return { root: dirname(source), path: bytePath(source.slice(source.lastIndexOf(sep) + 1)), readOnly };
      if (isFile) continue;
      if (target === "") return { root: source, path, readOnly };
      if (path.startsWith(`${target}/`)) return { root: source, path: path.slice(target.length + 1), readOnly };
    }
    return undefined;
  };
}

/** `cleared`: something on the way goes first, so that nothing is there. `blocked` says why nothing may be written. */
export type Way = "open" | "cleared" | { readonly blocked: string };

/**
 * A directory on the way may be a link, as long as it does not lead out of the root. `removed` are the files, relative
 * to the root, that will be gone by then.
 */
export function wayTo({ root, path }: HostPlace, removed: (path: BytePath) => boolean): Way {
  for (const parent of parentsOf(path)) {
    const place = onDisk(root, parent);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return "open";
    if (stats.isDirectory()) continue;
    if (removed(parent)) return "cleared";
    if (!stats.isSymbolicLink()) return { blocked: `${shownPath(parent)} is not a directory on the host` };
    if (!leadsInside(root, place))
      return { blocked: `${shownPath(parent)} is a link on the host that leads out of ${root}` };
  }
  return "open";
}

function leadsInside(root: string, link: Buffer): boolean {
  try {
    const real = realpathSync(link, { encoding: "latin1" });
    return real.startsWith(`${bytePath(realpathSync(root))}/`) && statSync(link).isDirectory();
  } catch {
    return false;
  }
}

function isFile(source: string): boolean {
  const stats = statSync(source, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new CapstanError("workspace_invalid", `${source}, where the files came from, is not there any more.`, {
      data: { source },
    });
  return !stats.isDirectory();
}

function normal(target: string): BytePath {
  return bytePath(target)
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}
