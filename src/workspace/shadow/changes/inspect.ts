import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { LeftOut } from "../../../core/ports/workspace.ts";
import { PERMISSIONS, usualMode } from "./modes.ts";
import { type BytePath, pathOnDisk } from "../paths.ts";

/** A file to include in a checkpoint. */
export interface KeptFile {
  readonly path: BytePath;
  readonly size: number;
}

export interface Inspected {
  readonly files: readonly KeptFile[];
  readonly leftOut: readonly { readonly path: BytePath; readonly why: LeftOut["why"] }[];
}

/** At most this many system calls in a row, so that other work gets its turn. */
const SLICE = 500;

/** Inspects files by name. Missing files and directories are in neither list. */
export async function inspect(root: string, paths: readonly BytePath[], maxBytes: number): Promise<Inspected> {
  const files: KeptFile[] = [];
  const leftOut: { path: BytePath; why: LeftOut["why"] }[] = [];
  await inSlices(paths, (path) => {
    const place = pathOnDisk(root, path);
    const stats = lstat(place);
    if (stats === undefined && isHidden(place)) leftOut.push({ path, why: "not readable" });
    if (stats === undefined || stats.isDirectory()) return;
    const why = obstacle(path, place, stats, maxBytes);
    if (why !== undefined) leftOut.push({ path, why });
    else files.push({ path, size: stats.size });
  });
  return { files, leftOut };
}

/** Permissions of the files among the paths; a link has none and gets the usual ones. */
export async function permissions(root: string, paths: readonly BytePath[]): Promise<ReadonlyMap<BytePath, number>> {
  const modes = new Map<BytePath, number>();
  await inSlices(paths, (path) => {
    const stats = lstat(pathOnDisk(root, path));
    modes.set(path, stats?.isFile() === true ? stats.mode & PERMISSIONS : usualMode(false));
  });
  return modes;
}

export async function changeTimes(
  root: string,
  paths: readonly BytePath[],
): Promise<readonly ({ seconds: number; nanoseconds: number } | undefined)[]> {
  const times: ({ seconds: number; nanoseconds: number } | undefined)[] = [];
  await inSlices(paths, (path) => {
    const stats = quietly(() => lstatSync(pathOnDisk(root, path), { bigint: true, throwIfNoEntry: false }));
    if (stats === undefined) return times.push(undefined);
    // The index has 32 bits for seconds.
    const seconds = Number(BigInt.asUintN(32, stats.ctimeNs / 1_000_000_000n));
    return times.push({ seconds, nanoseconds: Number(stats.ctimeNs % 1_000_000_000n) });
  });
  return times;
}

function obstacle(path: BytePath, place: Buffer, stats: Stats, maxBytes: number): LeftOut["why"] | undefined {
  if (!stats.isFile() && !stats.isSymbolicLink()) return "not a file";
  // Git rejects these in any spelling, so that they cannot become part of a repository on another machine.
  if (/(^|\/)\.git(\/|$)/i.test(path)) return "a name git cannot keep";
  if (stats.isSymbolicLink()) return /(^|\/)\.gitmodules$/i.test(path) ? "a name git cannot keep" : undefined;
  if (stats.size > maxBytes) return "too large";
  return readable(place, stats) ? undefined : "not readable";
}

/** Directories that cannot be read, each with a trailing slash; excludes the root, which must be readable. */
export async function closedDirectories(root: string): Promise<BytePath[]> {
  const closed: BytePath[] = [];
  const visit = (directory: BytePath): BytePath[] =>
    readdirSync(pathOnDisk(root, directory), { withFileTypes: true, encoding: "latin1" })
      .filter((entry) => entry.isDirectory() && entry.name !== ".git")
      .map(({ name }) => `${directory}${name}/`);
  for (let level = visit(""); level.length > 0;) {
    const next: BytePath[] = [];
    await inSlices(level, (directory) => {
      const inside = isOpen(pathOnDisk(root, directory)) ? quietly(() => visit(directory)) : undefined;
      if (inside !== undefined) next.push(...inside);
      else if (lstat(pathOnDisk(root, directory.slice(0, -1)))?.isDirectory() === true) closed.push(directory);
    });
    level = next;
  }
  return closed;
}

/** In a directory that can be listed but not entered. */
function isHidden(place: Buffer): boolean {
  try {
    lstatSync(place);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

function isOpen(directory: Buffer): boolean {
  return quietly(() => accessSync(directory, constants.R_OK | constants.X_OK) ?? true) ?? false;
}

function readable(place: Buffer, { mode, uid }: Stats): boolean {
  if (uid === process.geteuid?.() && (mode & 0o400) !== 0) return true;
  return quietly(() => accessSync(place, constants.R_OK) ?? true) ?? false;
}

export function lstat(place: Buffer): Stats | undefined {
  return quietly(() => lstatSync(place, { throwIfNoEntry: false }));
}

/** `a/b` where `a` is a file or an inaccessible directory: treated as missing. */
function quietly<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

async function inSlices<T>(items: readonly T[], visit: (item: T) => unknown): Promise<void> {
  for (let at = 0; at < items.length; at += SLICE) {
    if (at > 0) await setImmediate();
    for (const item of items.slice(at, at + SLICE)) visit(item);
  }
}
