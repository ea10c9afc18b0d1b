import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { resolve } from "node:path";
import { matchesGlob, parseGlob } from "../../core/paths/glob.ts";
import { unescapeGlob, withoutWildcards } from "./expand-word.ts";

/** At most this many names are read for one command, so that a decision does not block the host. */
const MAX_LOOKED = 20_000;
const MAX_FOUND = 1_000;

/** How many names may still be read. */
export interface Effort {
  looked: number;
}

/**
 * The paths that a pattern matches, as in bash: relative to `base`, without hidden names unless the pattern begins with
 * a dot. Undefined if there are too many.
 */
export function expandGlob(pattern: string, base: string, effort: Effort): string[] | undefined {
  let found = [pattern.startsWith("/") ? "/" : ""];
  let hasWildcard = false;
  const segments = pattern.split("/").filter((segment) => segment !== "");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const literal = withoutWildcards(segment);
    if (literal !== undefined) {
      const paths = found.map((path) => joinPath(path, literal));
      effort.looked += paths.length;
      found = hasWildcard ? paths.filter((path) => exists(resolve(base, path))) : paths;
      continue;
    }
    hasWildcard = true;
    const glob = parseGlob(segment);
    const showsHidden = segment.startsWith(".") || segment.startsWith("\\.");
    const next: string[] = [];
    for (const path of found) {
      const entries = entriesOf(resolve(base, path === "" ? "." : path));
      effort.looked += entries.length;
      if (effort.looked > MAX_LOOKED) return undefined;
      for (const entry of entries) {
        if (entry.name.startsWith(".") && !showsHidden) continue;
        if (!isLast && entry.isFile()) continue;
        if (matchesGlob(glob, entry.name)) next.push(joinPath(path, entry.name));
      }
      if (next.length > MAX_FOUND) return undefined;
    }
    found = next;
  }
  // Bash passes on a pattern that matches nothing as it is written.
  return [...found, unescapeGlob(pattern)];
}

function joinPath(path: string, name: string): string {
  return path === "" || path === "/" ? path + name : `${path}/${name}`;
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
