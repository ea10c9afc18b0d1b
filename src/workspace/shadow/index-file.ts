import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { BytePath } from "./paths.ts";

/** The parts of git's index entry that we need. */
export interface IndexEntry {
  readonly path: BytePath;
  readonly ctimeSeconds: number;
  readonly ctimeNanoseconds: number;
}

export interface IndexFile {
  readonly count: number;
  /** The total size of all its files. */
  readonly bytes: number;
  /** Entries whose change time git cannot tell from a later one; see `readIndex`. */
  readonly fresh: readonly IndexEntry[];
}

const HEADER = 12;
const CHECKSUM = 20;
/** The size of a version 2 entry before its path: times, device, inode, mode, owner, size, hash, flags. */
const FIXED = 62;
const SIZE_AT = 36;

/**
 * Git compares times by the second (unless built otherwise) and compensates by comparing the contents of files written
 * at or after the index. It does not do that for permissions, so a chmod in the same second as a checkpoint would be
 * missed. The index has nanoseconds; these entries must be compared by them. Undefined if the file is missing or not
 * understood.
 */
export async function readIndex(file: string): Promise<IndexFile | undefined> {
  const content = await contentOf(file);
  if (content === undefined) return undefined;
  const since = Math.floor((await stat(file)).mtimeMs / 1_000);
  const fresh: IndexEntry[] = [];
  let bytes = 0;
  const count = eachEntry(content, (at, end) => {
    bytes += content.readUInt32BE(at + SIZE_AT);
    const ctimeSeconds = content.readUInt32BE(at);
    if (ctimeSeconds < since) return;
    const path = content.toString("latin1", at + FIXED, end);
    fresh.push({ path, ctimeSeconds, ctimeNanoseconds: content.readUInt32BE(at + 4) });
  });
  return count === undefined ? undefined : { count, bytes, fresh };
}

/** The size of each of its files. */
export async function indexSizes(file: string): Promise<ReadonlyMap<BytePath, number>> {
  const sizes = new Map<BytePath, number>();
  const content = await contentOf(file);
  if (content === undefined) return sizes;
  eachEntry(content, (at, end) => {
    sizes.set(content.toString("latin1", at + FIXED, end), content.readUInt32BE(at + SIZE_AT));
  });
  return sizes;
}

/** Whether the file is complete. Git itself does not check. */
export async function isWholeIndex(file: string): Promise<boolean> {
  const content = await contentOf(file);
  if (content === undefined) return false;
  const body = content.subarray(0, -CHECKSUM);
  return createHash("sha1").update(body).digest().equals(content.subarray(-CHECKSUM));
}

/** Undefined if it is missing or cannot be an index. */
async function contentOf(file: string): Promise<Buffer | undefined> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  return content === undefined || content.length < HEADER + CHECKSUM ? undefined : content;
}

/** Returns the number of entries; undefined if it is not a version 2 index. */
function eachEntry(content: Buffer, visit: (at: number, end: number) => void): number | undefined {
  if (content.toString("latin1", 0, 4) !== "DIRC" || content.readUInt32BE(4) !== 2) return undefined;
  const count = content.readUInt32BE(8);
  let at = HEADER;
  for (let number = 0; number < count; number += 1) {
    const end = at + FIXED > content.length ? -1 : content.indexOf(0, at + FIXED);
    if (end < 0) return undefined;
    visit(at, end);
    // One to eight zeros pad the entry to a multiple of eight.
    at += (end - at + 8) & ~7;
  }
  return count;
}
