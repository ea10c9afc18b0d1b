import { link, rename, rm, utimes } from "node:fs/promises";
import type { CheckpointSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { FileState } from "./checkpoint-commit.ts";
import { isWholeIndex } from "./index-file.ts";
import { permissions } from "./changes/inspect.ts";
import { refuseTooMuch } from "./limits.ts";
import { isUsual, type Modes, NO_MODES } from "./changes/modes.ts";
import { type BytePath, joinNul } from "./paths.ts";
import { randomName, type ShadowRepository } from "./repository.ts";
import { type Scan, scan } from "./scan.ts";

/** The current content of the work tree. */
export interface Look extends FileState {
  readonly leftOut: Scan["leftOut"];
  /** Whether the index was written. */
  readonly updated: boolean;
}

interface LookRequest {
  /** Path of the index; afterwards it matches the work tree. */
  readonly index: string;
  /** The index's content: its tree, if known, and the modes. */
  readonly base: { readonly tree: string | undefined; readonly modes: Modes };
  readonly settings: CheckpointSettings;
  /** From the last checkpoint. */
  readonly leftOut: readonly BytePath[];
}

/** From this many files on, one pack is written instead of separate files, each with its own block on disk. */
const PACK_FROM = 200;
/** Files that change meanwhile, or a damaged index, make git fail; then we try again. */
const ATTEMPTS = 3;
/** File systems round times and their clocks lag; within this margin a file may have changed after it was read. */
const CLOCK_MARGIN_S = 2;

/** Updates an index and writes its tree. Writes objects, and changes nothing else. */
export async function look(repository: ShadowRepository, request: LookRequest): Promise<Look> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await lookOnce(repository, request);
    } catch (thrown) {
      const git = thrown instanceof CapstanError && thrown.code === "workspace_failed";
      if (!git || thrown.data["missing"] !== undefined || attempt === ATTEMPTS) throw thrown;
      // Git treats a missing index as empty, so it is rebuilt.
      if (!(await isWholeIndex(request.index))) await rm(request.index, { force: true });
    }
}

async function lookOnce(repository: ShadowRepository, request: LookRequest): Promise<Look> {
  const { index, base, settings } = request;
  const startedAt = Date.now() / 1_000;
  const found = await scan(repository, index, {
    maxFileBytes: settings.max_file_bytes,
    leftOut: request.leftOut,
  });
  const { gone, changed, leftOut, missing } = found;
  const before = missing ? NO_MODES : base.modes;
  await refuseTooMuch(index, found, settings);
  // Git compares the contents of files that are not older than the index, which must include those written meanwhile.
  const date = (file: string): Promise<void> => utimes(file, startedAt, startedAt - CLOCK_MARGIN_S);
  if (gone.length === 0 && changed.length === 0) {
    const known = missing ? undefined : base.tree;
    const tree = known ?? (await writeTree(repository, index));
    // Git may have written the index too when it wrote the tree.
    if (!missing && (found.fresh || known === undefined)) await date(index);
    return { tree, modes: before, leftOut, updated: false };
  }
  // On a copy, because this may be abandoned halfway.
  const next = `${index}.${randomName()}`;
  try {
    if (!missing) await link(index, next);
    await update(repository, next, found);
    const tree = await writeTree(repository, next);
    await date(next);
    // Read after git has read the files: the next look finds a mode that changes in between.
    const paths = changed.map(({ path }) => path);
    const modes = newModes(before, gone, await permissions(repository.workTree, paths));
    await rename(next, index);
    return { tree, modes, leftOut, updated: true };
  } finally {
    await rm(next, { force: true });
  }
}

async function update(repository: ShadowRepository, index: string, { gone, changed }: Scan): Promise<void> {
  if (gone.length > 0) {
    // By name only, because git refuses paths behind a link.
    const entries = gone.map((path) => `0 ${"0".repeat(40)}\t${path}\0`).join("");
    const input = Buffer.from(entries, "latin1");
    await repository.git(["update-index", "-z", "--index-info"], { index, input });
  }
  if (changed.length === 0) return;
  const packed = changed.length >= PACK_FROM ? ["-c", "core.bigFileThreshold=1"] : [];
  const args = [...packed, "update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  await repository.git(args, { index, input: joinNul(changed.map(({ path }) => path)) });
}

async function writeTree(repository: ShadowRepository, index: string): Promise<string> {
  return (await repository.git(["write-tree"], { index })).stdout.toString().trim();
}

function newModes(before: Modes, gone: readonly BytePath[], kept: ReadonlyMap<BytePath, number>): Modes {
  const wanted = new Map<BytePath, number | undefined>(gone.map((path) => [path, undefined]));
  for (const [path, mode] of kept) wanted.set(path, isUsual(mode) ? undefined : mode);
  if (wanted.entries().every(([path, mode]) => before.get(path) === mode)) return before;
  const modes = new Map(before);
  for (const [path, mode] of wanted)
    if (mode === undefined) modes.delete(path);
    else modes.set(path, mode);
  return modes;
}
