import type { FileChange } from "../../../core/ports/workspace.ts";
import type { FileState } from "../checkpoint-commit.ts";
import { modeDifferences } from "./modes.ts";
import { type BytePath, bytePath, bytePathText } from "../paths.ts";
import { type RawChange, rawChanges, readRaw } from "./raw-changes.ts";
import type { ShadowRepository } from "../repository.ts";

/** Leaves names in headers unquoted; git itself still quotes names with quotes, tabs and the like. */
const READABLE = ["-c", "core.quotePath=false"];
const PLAIN = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];

/** Differences in contents, links and executable bits. */
export async function contentChanges(
  repository: ShadowRepository,
  from: FileState,
  to: FileState,
): Promise<RawChange[]> {
  if (from.tree === to.tree) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from.tree, to.tree];
  return rawChanges((await repository.git(args)).stdout);
}

/** Files with the same contents and different permissions. */
export function onlyModes(from: FileState, to: FileState, contents: readonly RawChange[]): BytePath[] {
  const others = new Set(contents.map(({ path }) => path));
  return modeDifferences(from.modes, to.modes).filter((path) => !others.has(path));
}

export async function countChanges(
  repository: ShadowRepository,
  from: FileState,
  to: FileState,
): Promise<{ readonly added: number; readonly modified: number; readonly deleted: number }> {
  const contents = await contentChanges(repository, from, to);
  const count = (status: string): number => contents.filter((change) => change.status === status).length;
  const [added, deleted] = [count("A"), count("D")];
  return { added, deleted, modified: contents.length - added - deleted + onlyModes(from, to, contents).length };
}

export async function listChanges(
  repository: ShadowRepository,
  from: FileState,
  to: FileState,
): Promise<readonly FileChange[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--numstat", ...PLAIN, from.tree, to.tree];
  const parts = (await repository.git(args)).stdout.toString("latin1").split("\0");
  const { changes, rest } = readRaw(parts);
  const lines = new Map(rest.map((line) => lineCounts(line)));
  const found = changes.map(({ path, status }): [BytePath, FileChange] => [
    path,
    { path: bytePathText(path), kind: kindOf(status), ...lines.get(path) },
  ]);
  const modes = onlyModes(from, to, changes).map((path): [BytePath, FileChange] => [
    path,
    { path: bytePathText(path), kind: "modified", insertions: 0, deletions: 0 },
  ]);
  return [...found, ...modes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

/** `path`: only this file; empty if it has not changed. A name that is not UTF-8 cannot be passed. */
export async function patchOf(
  repository: ShadowRepository,
  from: FileState,
  to: FileState,
  path?: string,
): Promise<Buffer> {
  const args = [...READABLE, "diff-tree", "-r", "-p", "--binary", "--full-index", ...PLAIN, from.tree, to.tree];
  if (path === undefined) return (await repository.git(args)).stdout;
  const wanted = bytePath(path);
  const isChanged = (await contentChanges(repository, from, to)).some((change) => change.path === wanted);
  return isChanged ? (await repository.git([...args, "--", ...onlyFile(path)])).stdout : Buffer.alloc(0);
}

/** A file may have become a directory of the same name, or vice versa: the directory's content is not the file's. */
function onlyFile(path: string): string[] {
  return [`:(top,literal)${path}`, `:(top,exclude,literal)${path}/`];
}

function kindOf(status: string): FileChange["kind"] {
  if (status === "A") return "added";
  return status === "D" ? "deleted" : "modified";
}

type LineCounts = Pick<FileChange, "insertions" | "deletions">;

/** `3⇥1⇥path`, and `-⇥-⇥path` for binary files. A path may contain tabs too. */
function lineCounts(line: string): [BytePath, LineCounts] {
  const [insertions = "-", deletions = "-"] = line.split("\t", 2);
  const path = line.slice(insertions.length + deletions.length + 2);
  return [path, insertions === "-" ? {} : { insertions: Number(insertions), deletions: Number(deletions) }];
}
