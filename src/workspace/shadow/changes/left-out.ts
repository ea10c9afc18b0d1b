import { rm } from "node:fs/promises";
import { join } from "node:path";
import { contentChanges } from "./changes.ts";
import type { FileState } from "../checkpoint-commit.ts";
import { type BytePath, parentsOf } from "../paths.ts";
import type { RawChange } from "./raw-changes.ts";
import { randomName, type ShadowRepository } from "../repository.ts";

/** Files, and paths with unknown content: a directory ends with a slash. */
export interface PartlyKnown extends FileState {
  readonly leftOut: readonly BytePath[];
}

/** Returns a test for paths that were left out, or are in a directory that was. */
export function leftOutTest(leftOut: readonly BytePath[]): (path: BytePath) => boolean {
  const paths = new Set(leftOut);
  return (path) => paths.has(path) || parentsOf(path).some((parent) => paths.has(`${parent}/`));
}

/**
 * What `to` left out still exists with unknown content, so it counts as neither changed nor deleted: `files` has it as
 * in `from`, and `unknown` names it.
 */
export async function withoutUnknown(
  repository: ShadowRepository,
  from: FileState,
  to: PartlyKnown,
): Promise<{ readonly files: FileState; readonly unknown: readonly BytePath[] }> {
  if (to.leftOut.length === 0) return { files: to, unknown: [] };
  const isLeftOut = leftOutTest(to.leftOut);
  const kept = (await contentChanges(repository, from, to)).filter(
    ({ path, status }) => status === "D" && isLeftOut(path),
  );
  if (kept.length === 0) return { files: to, unknown: [] };
  const tree = await treeWith(repository, to.tree, kept);
  const modes = new Map(to.modes);
  for (const { path } of kept) {
    const mode = from.modes.get(path);
    if (mode !== undefined) modes.set(path, mode);
  }
  return { files: { tree, modes }, unknown: kept.map(({ path }) => path) };
}

async function treeWith(repository: ShadowRepository, base: string, added: readonly RawChange[]): Promise<string> {
  // Not `index-…`: another host removes those when it starts, and this may run at the same time.
  const index = join(repository.path, `look-${randomName()}`);
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
