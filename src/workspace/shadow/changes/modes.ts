import { createHash } from "node:crypto";
import { type TreeEntry, writeObject, writeTree } from "../objects.ts";
import type { BytePath } from "../paths.ts";
import type { ShadowRepository } from "../repository.ts";

/**
 * Git stores only whether a file's owner may execute it. All permissions (0o7777) are saved separately, as a tree with
 * the same paths in which each blob is an octal number; files with the usual permissions are not in it.
 */
export type Modes = ReadonlyMap<BytePath, number>;

export const NO_MODES: Modes = new Map();

export const PERMISSIONS = 0o7777;
/** The permissions that may leave a workspace: an agent's program must not run as another user. */
export const HOST_PERMISSIONS = 0o777;

/** The mode of a file that is not in the tree of modes. */
export function usualMode(executable: boolean): number {
  return executable ? 0o755 : 0o644;
}

export function isUsual(mode: number): boolean {
  return mode === usualMode((mode & 0o100) !== 0);
}

/** Reads the modes from a tree; `undefined` for none. */
export async function readModes(repository: ShadowRepository, tree: string | undefined): Promise<Modes> {
  if (tree === undefined) return NO_MODES;
  const { stdout } = await repository.git(["ls-tree", "-r", "-z", "--full-tree", tree]);
  const modes = new Map<BytePath, number>();
  for (const line of stdout.toString("latin1").split("\0")) {
    const tab = line.indexOf("\t");
    const mode = modeOfBlob(line.slice(tab - 40, tab));
    if (tab > 0 && mode !== undefined) modes.set(line.slice(tab + 1), mode);
  }
  return modes;
}

/** Returns the tree; undefined for none. */
export async function writeModes(repository: string, modes: Modes): Promise<string | undefined> {
  return modes.size === 0 ? undefined : writeDirectory(repository, [...modes]);
}

async function writeDirectory(repository: string, files: readonly [BytePath, number][]): Promise<string> {
  const below = Map.groupBy(files, ([path]) => path.slice(0, path.indexOf("/") + 1));
  const entries: TreeEntry[] = [];
  for (const [directory, inside] of below)
    if (directory === "")
      for (const [name, mode] of inside) {
        const hash = await writeObject(repository, "blob", Buffer.from(mode.toString(8)));
        entries.push({ mode: "100644", name, hash });
      }
    else {
      const relative = inside.map(([path, mode]): [BytePath, number] => [path.slice(directory.length), mode]);
      entries.push({ mode: "40000", name: directory.slice(0, -1), hash: await writeDirectory(repository, relative) });
    }
  return writeTree(repository, entries);
}

export function sameModes(a: Modes, b: Modes): boolean {
  return a === b || modeDifferences(a, b).length === 0;
}

/** Paths whose modes differ, or that only one of them has. */
export function modeDifferences(a: Modes, b: Modes): BytePath[] {
  if (a === b) return [];
  const missing = a
    .keys()
    .filter((path) => !b.has(path))
    .toArray();
  return [
    ...missing,
    ...b
      .entries()
      .filter(([path, mode]) => a.get(path) !== mode)
      .map(([path]) => path),
  ];
}

let blobs: Map<string, number> | undefined;

/** There are only 4096 such blobs, so their contents need not be read. */
function modeOfBlob(hash: string): number | undefined {
  if (blobs === undefined) {
    blobs = new Map();
    for (let mode = 0; mode <= PERMISSIONS; mode += 1) {
      const text = mode.toString(8);
      blobs.set(createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex"), mode);
    }
  }
  return blobs.get(hash);
}
