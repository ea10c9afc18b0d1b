import { readdirSync, type Stats, statSync } from "node:fs";

/** At most this many names of one directory are read. */
const MAX_CHILDREN = 1_000;

/** The names in a directory; empty if it is missing or unreadable. */
export function childrenOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).slice(0, MAX_CHILDREN);
  } catch {
    return [];
  }
}

/**
 * Finds the first of the files that is the same file under another name. Searches only if the file has more than one
 * name.
 */
export function sameFile(path: string, files: () => readonly string[]): string | undefined {
  const stats = statsOf(path);
  if (stats?.isFile() !== true || stats.nlink < 2) return undefined;
  return files().find((file) => {
    const other = file === path ? undefined : statsOf(file);
    return other !== undefined && other.ino === stats.ino && other.dev === stats.dev;
  });
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
