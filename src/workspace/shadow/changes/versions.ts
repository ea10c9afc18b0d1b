import { createHash } from "node:crypto";
import { createReadStream, lstatSync, readlinkSync } from "node:fs";
import type { FileState } from "../checkpoint-commit.ts";
import { contentChanges, onlyModes } from "./changes.ts";
import { HOST_PERMISSIONS, usualMode } from "./modes.ts";
import { type BytePath, splitNul } from "../paths.ts";
import { EXECUTABLE, LINK } from "./raw-changes.ts";
import type { ShadowRepository } from "../repository.ts";

/** A file or a link at some moment, with its contents as a git hash. */
export interface Version {
  readonly kind: "file" | "link";
  readonly hash: string;
  /** Permissions; 0 for a link. */
  readonly mode: number;
}

export interface VersionChange {
  readonly path: BytePath;
  readonly before: Version | undefined;
  readonly after: Version | undefined;
}

/** All differences, including permissions as far as the host may have them. */
export async function versionChanges(
  repository: ShadowRepository,
  from: FileState,
  to: FileState,
): Promise<VersionChange[]> {
  const contents = await contentChanges(repository, from, to);
  const changes = contents.map(({ path, before, after }) => ({
    path,
    before: version(from, path, before),
    after: version(to, path, after),
  }));
  const modes = onlyModes(from, to, contents);
  if (modes.length === 0) return changes;
  const listing = await repository.git(["ls-tree", "-r", "-z", "--full-tree", to.tree]);
  const entries = new Map(splitNul(listing.stdout).map((line) => entryOf(line)));
  for (const path of modes) {
    const entry = entries.get(path);
    if (entry !== undefined)
      changes.push({ path, before: version(from, path, entry), after: version(to, path, entry) });
  }
  return changes;
}

export function sameContent(a: Version | undefined, b: Version | undefined): boolean {
  return a?.kind === b?.kind && a?.hash === b?.hash;
}

/** Reads the version at a path of the host. */
export async function versionAt(file: Buffer): Promise<Version | "directory" | "something else" | undefined> {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(file, { encoding: "buffer" });
    return { kind: "link", hash: blobHash(target.length).update(target).digest("hex"), mode: 0 };
  }
  if (!stats.isFile()) return "something else";
  const hash = blobHash(stats.size);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return { kind: "file", hash: hash.digest("hex"), mode: stats.mode & HOST_PERMISSIONS };
}

function blobHash(size: number): ReturnType<typeof createHash> {
  return createHash("sha1").update(`blob ${size}\0`);
}

interface TreeEntry {
  readonly mode: string;
  readonly hash: string;
}

/** `100644 blob <hash>⇥path` */
function entryOf(line: string): [BytePath, TreeEntry] {
  const tab = line.indexOf("\t");
  return [line.slice(tab + 1), { mode: line.slice(0, 6), hash: line.slice(tab - 40, tab) }];
}

function version({ modes }: FileState, path: BytePath, { mode, hash }: TreeEntry): Version | undefined {
  if (/^0+$/.test(hash)) return undefined;
  if (mode === LINK) return { kind: "link", hash, mode: 0 };
  const kept = modes.get(path) ?? usualMode(mode === EXECUTABLE);
  return { kind: "file", hash, mode: kept & HOST_PERMISSIONS };
}
