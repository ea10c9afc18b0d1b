import { readdirSync, type Stats, statSync } from "node:fs";

/** So many names of one directory are looked at. */
const MAX_CHILDREN = 1_000;

/** The names in a directory; none when there is no such directory, or when this user may not look. */
export function childrenOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).slice(0, MAX_CHILDREN);
  } catch {
    return [];
  }
}

/** The first of the files that is the same one under another name. They are looked for only when it has one. */
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
