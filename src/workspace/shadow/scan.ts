import { copyFile, rm } from "node:fs/promises";
import type { LeftOut } from "../../core/ports/workspace.ts";
import { CapstanError } from "../../core/errors.ts";
import { type IndexFile, readIndex } from "./index-file.ts";
import { changeTimes, closedDirectories, inspect, type KeptFile } from "./changes/inspect.ts";
import { leftOutTest } from "./changes/left-out.ts";
import { type BytePath, splitNul } from "./paths.ts";
import { rawChanges } from "./changes/raw-changes.ts";
import { randomName, type ShadowRepository } from "./repository.ts";

/** The changes that make an index match the work tree. */
export interface Scan {
  /** The number of entries; 0 if the index is missing. */
  readonly entries: number;
  /** The total size of those entries. */
  readonly bytes: number;
  readonly missing: boolean;
  /** Entries to remove. Some of them are in `changed` too, because git would consider them unchanged. */
  readonly gone: readonly BytePath[];
  /** Entries to add or update. */
  readonly changed: readonly KeptFile[];
  /** How many of those are not in the index yet. */
  readonly added: number;
  readonly leftOut: readonly (Omit<LeftOut, "path"> & { readonly path: BytePath })[];
  /**
   * Whether the index has entries written at about the same time as itself, which every scan must check more closely.
   */
  readonly fresh: boolean;
}

interface ScanOptions {
  readonly maxFileBytes: number;
  /** From the last checkpoint. Git does not list pipes and the like, so only this shows where one replaced a file. */
  readonly leftOut: readonly BytePath[];
}

/**
 * Compares the work tree with an index. Does not refresh the index first, so that changes of permissions alone are
 * found too. Files ignored by the user's git count like all others.
 */
export async function scan(
  repository: ShadowRepository,
  index: string,
  { maxFileBytes, leftOut }: ScanOptions,
): Promise<Scan> {
  const [tracked, untracked, { file, rewritten }] = await Promise.all([
    changedEntries(repository, index),
    untrackedFiles(repository, index),
    readIndex(index).then(async (file) => ({ file, rewritten: await changedSince(repository, file?.fresh ?? []) })),
  ]);
  const closed = await closedEntries(repository, index, [tracked.stderr, untracked.stderr]);
  const { modified } = tracked;
  const deleted = [...new Set([...tracked.deleted, ...closed.entries])];
  const known = new Set([...modified, ...deleted]);
  const unnoticed = rewritten.filter((path) => !known.has(path));
  const paths = [...modified.filter((path) => !closed.entries.has(path)), ...unnoticed, ...untracked.paths];
  const found = await inspect(repository.workTree, paths, maxFileBytes);
  const looked = new Set([...paths, ...known]);
  const again = leftOut.filter((path) => !looked.has(path));
  const kept = new Set(found.files.map(({ path }) => path));
  return {
    entries: file?.count ?? 0,
    bytes: file?.bytes ?? 0,
    missing: file === undefined,
    gone: [...deleted, ...modified.filter((path) => !kept.has(path)), ...unnoticed],
    changed: found.files,
    added: untracked.paths.filter((path) => kept.has(path)).length,
    leftOut: [
      ...found.leftOut,
      ...closed.directories.map((path) => ({ path, why: "not readable" as const })),
      ...(await inspect(repository.workTree, again, maxFileBytes)).leftOut,
    ],
    fresh: (file?.fresh.length ?? 0) > 0,
  };
}

interface ChangedEntries {
  readonly modified: readonly BytePath[];
  /** Includes files whose directory is now a link: they must not be searched through it. */
  readonly deleted: readonly BytePath[];
  readonly stderr: string;
}

async function changedEntries(repository: ShadowRepository, index: string): Promise<ChangedEntries> {
  const { stdout, stderr } = await repository.git(["diff-files", "--raw", "-z", "--no-renames"], { index });
  const modified: BytePath[] = [];
  const deleted: BytePath[] = [];
  for (const { path, status } of rawChanges(stdout)) (status === "D" ? deleted : modified).push(path);
  return { modified, deleted, stderr };
}

/**
 * Git lists a nested repository as one name, as long as the index has nothing of it. With an entry in it, in a copy of
 * the index, git lists its files by the same rules as all others.
 */
async function untrackedFiles(
  repository: ShadowRepository,
  index: string,
): Promise<{ readonly paths: readonly BytePath[]; readonly stderr: string }> {
  let said = "";
  const list = async (file: string): Promise<BytePath[]> => {
    const args = ["ls-files", "--others", "-z", `--exclude-from=${repository.excludeFile}`];
    const { stdout, stderr } = await repository.git(args, { index: file });
    said += stderr;
    return splitNul(stdout);
  };
  let paths = await list(index);
  if (!paths.some(isRepository)) return { paths, stderr: said };
  const copy = `${index}.${randomName()}`;
  try {
    await copyFile(index, copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    for (let opened = new Set<BytePath>(); ;) {
      const closed = paths.filter((path) => isRepository(path) && !opened.has(path));
      if (closed.length === 0) return { paths: paths.filter((path) => !isRepository(path)), stderr: said };
      opened = new Set([...opened, ...closed]);
      const entries = closed.map((path) => `100644 ${EMPTY_BLOB}\t${path}${randomName()}\0`);
      await repository.git(["update-index", "-z", "--index-info"], {
        index: copy,
        input: Buffer.from(entries.join(""), "latin1"),
      });
      paths = await list(copy);
    }
  } finally {
    await rm(copy, { force: true });
  }
}

function isRepository(path: BytePath): boolean {
  return path.endsWith("/");
}

const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/** Among entries that git cannot distinguish by time: those changed, by the nanosecond. */
async function changedSince(repository: ShadowRepository, fresh: IndexFile["fresh"]): Promise<BytePath[]> {
  const times = await changeTimes(
    repository.workTree,
    fresh.map(({ path }) => path),
  );
  return fresh
    .filter(({ ctimeSeconds, ctimeNanoseconds }, position) => {
      const now = times[position];
      return now !== undefined && (now.seconds !== ctimeSeconds || now.nanoseconds !== ctimeNanoseconds);
    })
    .map(({ path }) => path);
}

interface Closed {
  /** With a trailing slash. */
  readonly directories: readonly BytePath[];
  /** The index entries in them. */
  readonly entries: ReadonlySet<BytePath>;
}

/** Git only warns about directories that it cannot read, and would treat them as empty. */
async function closedEntries(repository: ShadowRepository, index: string, said: readonly string[]): Promise<Closed> {
  if (!said.some((stderr) => stderr.includes("Permission denied"))) return { directories: [], entries: new Set() };
  // Git's warnings cannot be parsed: a name may contain a line break.
  const directories = await closedDirectories(repository.workTree);
  if (directories.length === 0)
    throw new CapstanError(
      "checkpoint_failed",
      `A directory of the workspace ${repository.workTree} cannot be read. Make it readable for this user.`,
    );
  const isLeftOut = leftOutTest(directories);
  const { stdout } = await repository.git(["ls-files", "-z"], { index });
  return { directories, entries: new Set(splitNul(stdout).filter(isLeftOut)) };
}
