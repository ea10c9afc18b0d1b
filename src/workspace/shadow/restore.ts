import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { CapstanError } from "../../core/errors.ts";
import type { CheckpointCommit, FileState } from "./checkpoint-commit.ts";
import { contentChanges, onlyModes } from "./changes/changes.ts";
import { lstat } from "./changes/inspect.ts";
import { leftOutTest, withoutUnknown } from "./changes/left-out.ts";
import { usualMode } from "./changes/modes.ts";
import { type BytePath, listPaths, pathOnDisk, parentsOf, bytePathText } from "./paths.ts";
import { EXECUTABLE, LINK, type RawChange } from "./changes/raw-changes.ts";
import { randomName, type ShadowRepository } from "./repository.ts";

interface RestoreRequest {
  /** Matches the work tree, which is `from`. */
  readonly index: string;
  readonly from: CheckpointCommit;
  readonly to: CheckpointCommit;
}

/**
 * Changes the work tree, after checking that nothing outside the checkpoints would be lost. Returns the resulting
 * state.
 */
export async function restoreFiles(
  repository: ShadowRepository,
  { index, from, to }: RestoreRequest,
): Promise<FileState> {
  // The target does not know what it left out: such files stay as they are now.
  const { files: wanted } = await withoutUnknown(repository, from, to);
  const changes = await contentChanges(repository, from, wanted);
  const inTheWay = obstacles(repository.workTree, changes, from.leftOut);
  if (inTheWay.length > 0)
    throw conflict(
      `${listPaths(inTheWay)}: in the way, and in no checkpoint (too large, excluded or not readable). Move or remove it.`,
      inTheWay,
    );
  if (changes.length > 0)
    await repository.git(["read-tree", "-m", "-u", "--no-recurse-submodules", from.tree, wanted.tree], {
      index,
      dieWithHost: true,
    });
  setModes(repository.workTree, wanted, changes, onlyModes(from, wanted, changes));
  await repository.git(["update-index", "-q", "--refresh"], { index, accept: [1] });
  return wanted;
}

export function changedSince(paths: readonly BytePath[]): CapstanError {
  const names = paths.map(bytePathText);
  return conflict(
    `The files have changed since their checkpoint was taken: ${listPaths(names)}. Take another checkpoint and try again.`,
    names,
  );
}

function conflict(message: string, paths: readonly string[]): CapstanError {
  return new CapstanError("workspace_conflict", message, { data: { paths } });
}

/** Existing files where a file would be written, except those that are removed. */
function obstacles(root: string, changes: readonly RawChange[], leftOut: readonly BytePath[]): string[] {
  const isLeftOut = leftOutTest(leftOut);
  const removed = new Set(changes.filter(({ status }) => status === "D").map(({ path }) => path));
  const found = new Set<BytePath>();
  const isClear = (parent: BytePath): "clear" | "nothing" | "taken" => {
    const stats = lstat(pathOnDisk(root, parent));
    if (stats === undefined) return "nothing";
    if (stats.isDirectory()) return "clear";
    return removed.has(parent) ? "nothing" : "taken";
  };
  for (const { path, status } of changes) {
    if (status !== "A") continue;
    // A closed directory can be neither read nor written.
    if (isLeftOut(path)) {
      found.add(path);
      continue;
    }
    const first = parentsOf(path).find((parent) => isClear(parent) !== "clear");
    if (first !== undefined) {
      if (isClear(first) === "taken") found.add(first);
      continue;
    }
    const stats = lstat(pathOnDisk(root, path));
    if (stats === undefined) continue;
    if (!stats.isDirectory()) found.add(path);
    else for (const inside of filesIn(root, path)) if (!removed.has(inside)) found.add(inside);
  }
  return [...found].map(bytePathText);
}

function filesIn(root: string, directory: BytePath): BytePath[] {
  return readdirSync(pathOnDisk(root, directory), { withFileTypes: true, encoding: "latin1" }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, path) : [path];
  });
}

/** Git creates files according to the umask; this restores the original permissions. */
function setModes(root: string, wanted: FileState, changes: readonly RawChange[], others: readonly BytePath[]): void {
  for (const { path, status, after } of changes)
    if (status !== "D" && after.mode !== LINK)
      setMode(pathOnDisk(root, path), () => wanted.modes.get(path) ?? usualMode(after.mode === EXECUTABLE));
  for (const path of others) {
    const place = pathOnDisk(root, path);
    if (lstat(place)?.isFile() === true)
      setMode(place, (now) => wanted.modes.get(path) ?? usualMode((now & 0o100) !== 0));
  }
}

/** Changes the file itself, never the target of a link, nor a file outside that is a hard link to it. */
function setMode(place: Buffer, modeFor: (now: number) => number): void {
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return;
    if (stats.nlink === 1) fchmodSync(file, modeFor(stats.mode));
    else replaceWithOwn(place, readFileSync(file), modeFor(stats.mode));
  } finally {
    closeSync(file);
  }
}

function replaceWithOwn(place: Buffer, content: Buffer, mode: number): void {
  const aside = Buffer.concat([place.subarray(0, place.lastIndexOf("/") + 1), Buffer.from(`.${randomName()}.tmp`)]);
  const file = openSync(aside, "wx", 0o600);
  try {
    writeFileSync(file, content);
    fchmodSync(file, mode);
    renameSync(aside, place);
  } finally {
    closeSync(file);
    rmSync(aside, { force: true });
  }
}
