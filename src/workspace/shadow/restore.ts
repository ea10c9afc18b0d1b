import { chmodSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { Checkpoint, Files } from "./checkpoint-commit.ts";
import { contentChanges, onlyModes } from "./changes.ts";
import { lstat } from "./inspect.ts";
import { usualMode } from "./modes.ts";
import { type BytePath, listed, onDisk, parentsOf, shownPath } from "./paths.ts";
import { EXECUTABLE, LINK, type RawChange } from "./raw-changes.ts";
import { randomName, type ShadowRepository } from "./repository.ts";

interface RestoreRequest {
  /** Says what is in the work tree, which is `from`. */
  readonly index: string;
  readonly from: Checkpoint;
  readonly to: Checkpoint;
}

/** Changes the work tree, after it has made sure that nothing is lost which is in no checkpoint. Returns what is there then. */
export async function restoreFiles(repository: ShadowRepository, { index, from, to }: RestoreRequest): Promise<Files> {
  const wanted = await leavingAlone(repository, from, to);
  const changes = await contentChanges(repository, from, wanted);
  const inTheWay = obstacles(repository.workTree, changes);
  if (inTheWay.length > 0)
    throw conflict(
      `${listed(inTheWay)}: in no checkpoint (too large, excluded or not readable), and in the way. Move it elsewhere, or remove it.`,
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
  const names = paths.map(shownPath);
  return conflict(
    `The files have changed since the checkpoint that was taken of them: ${listed(names)}. Take another one and repeat it.`,
    names,
  );
}

function conflict(message: string, paths: readonly string[]): CapstanError {
  return new CapstanError("workspace_conflict", message, { data: { paths } });
}

/** What the target left out is not known to it: where the files of now have it, it stays as it is. */
async function leavingAlone(repository: ShadowRepository, from: Checkpoint, to: Checkpoint): Promise<Files> {
  if (to.leftOut.length === 0) return to;
  const leftOut = new Set(to.leftOut);
  const kept = (await contentChanges(repository, from, to)).filter(
    ({ path, status }) => status === "D" && leftOut.has(path),
  );
  if (kept.length === 0) return to;
  const tree = await treeWith(repository, to.tree, kept);
  const modes = new Map(to.modes);
  for (const { path } of kept) {
    const mode = from.modes.get(path);
    if (mode !== undefined) modes.set(path, mode);
  }
  return { tree, modes };
}

async function treeWith(repository: ShadowRepository, base: string, added: readonly RawChange[]): Promise<string> {
  const index = join(repository.path, `index-${randomName()}`);
  try {
    await repository.git(["read-tree", base], { index });
    const entries = added.map(({ path, before }) => `${before.mode} ${before.hash}\t${path}\0`).join("");
    const input = Buffer.from(entries, "latin1");
    await repository.git(["update-index", "-z", "--add", "--index-info"], { index, input });
    return (await repository.git(["write-tree"], { index })).stdout.toString().trim();
  } finally {
    await rm(index, { force: true });
  }
}

/** What is on the disk where a file would be put, and is not one of those that are taken away. */
function obstacles(root: string, changes: readonly RawChange[]): string[] {
  const removed = new Set(changes.filter(({ status }) => status === "D").map(({ path }) => path));
  const found = new Set<BytePath>();
  const isClear = (parent: BytePath): "clear" | "nothing" | "taken" => {
    const stats = lstat(onDisk(root, parent));
    if (stats === undefined) return "nothing";
    if (stats.isDirectory()) return "clear";
    return removed.has(parent) ? "nothing" : "taken";
  };
  for (const { path, status } of changes) {
    if (status !== "A") continue;
    const first = parentsOf(path).find((parent) => isClear(parent) !== "clear");
    if (first !== undefined) {
      if (isClear(first) === "taken") found.add(first);
      continue;
    }
    const stats = lstat(onDisk(root, path));
    if (stats === undefined) continue;
    if (!stats.isDirectory()) found.add(path);
    else for (const inside of filesIn(root, path)) if (!removed.has(inside)) found.add(inside);
  }
  return [...found].map(shownPath);
}

function filesIn(root: string, directory: BytePath): BytePath[] {
  return readdirSync(onDisk(root, directory), { withFileTypes: true, encoding: "latin1" }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, path) : [path];
  });
}

/** Git makes files with what the umask leaves; here each gets what it had. */
function setModes(root: string, wanted: Files, changes: readonly RawChange[], others: readonly BytePath[]): void {
  for (const { path, status, after } of changes)
    if (status !== "D" && after.mode !== LINK)
      chmodSync(onDisk(root, path), wanted.modes.get(path) ?? usualMode(after.mode === EXECUTABLE));
  for (const path of others) {
    const place = onDisk(root, path);
    const stats = lstat(place);
    if (stats?.isFile() !== true) continue;
    chmodSync(place, wanted.modes.get(path) ?? usualMode((stats.mode & 0o100) !== 0));
  }
}
