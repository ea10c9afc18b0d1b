import { rm } from "node:fs/promises";
import { join } from "node:path";
import { commitTree } from "../checkpoint-commit.ts";
import { leftOutTest } from "../changes/left-out.ts";
import { type BytePath, bytePathText, splitNul } from "../paths.ts";
import { type RawChange, readRaw } from "../changes/raw-changes.ts";
import { randomName, type ShadowRepository } from "../repository.ts";

/** From one checkpoint to another, as commits. */
export interface CommitStep {
  readonly from: string;
  readonly to: string;
  readonly unsure: boolean;
}

type Side = RawChange["before"];

/** The combined effect of steps on one entry of the checkpoints' trees: a file, or its permissions. */
interface Chain {
  /** Before the first step that changed it. */
  readonly first: Side;
  /** After the last step. */
  readonly last: Side;
  /** Whether someone else changed it between two steps, or may have during one. */
  readonly isShared: boolean;
}

const NOTHING: Side = { mode: "000000", hash: "0".repeat(40) };
const LEFT_OUT = "left-out";

/**
 * The combined changes of the steps. Entries are named as in the trees of checkpoints: `files/…` for contents and
 * `modes/…` for permissions. Leaves out entries that are back in their original state.
 */
async function chainsOf(
  repository: ShadowRepository,
  steps: readonly CommitStep[],
): Promise<ReadonlyMap<BytePath, Chain>> {
  const chains = new Map<BytePath, Chain>();
  const changes = await changesOf(repository, steps);
  for (const [index, { unsure }] of steps.entries())
    for (const { path, before, after } of changes[index] ?? []) {
      const known = chains.get(path);
      const first = known?.first ?? before;
      const isShared = unsure || known?.isShared === true || (known !== undefined && !isSame(known.last, before));
      if (isSame(first, after)) chains.delete(path);
      else chains.set(path, { first, last: after, isShared });
    }
  return chains;
}

/** Creates two commits that differ only in what the steps changed. */
export async function commitOwn(
  repository: ShadowRepository,
  steps: readonly CommitStep[],
): Promise<{ readonly from: string; readonly to: string }> {
  const chains = await chainsOf(repository, steps);
  const side = (which: "first" | "last"): Promise<string> =>
    commitWith(
      repository,
      undefined,
      chains.entries().map(([path, chain]) => [path, chain[which]]),
    );
  return { from: await side("first"), to: await side("last") };
}

/**
 * Creates a commit of the files at `current` without the steps' changes; also returns the files that someone else
 * changed too.
 */
export async function commitTakenBack(
  repository: ShadowRepository,
  steps: readonly CommitStep[],
  current: string,
): Promise<{ readonly commit: string; readonly conflicts: readonly string[] }> {
  const chains = await chainsOf(repository, steps);
  const now = await entriesAt(repository, current, chains.keys());
  const conflicts = new Set<BytePath>();
  for (const [path, { first, last, isShared }] of chains) {
    const found = now.get(path) ?? NOTHING;
    if (!isSame(found, first) && (isShared || !isSame(found, last))) conflicts.add(path);
  }
  const commit = await commitWith(
    repository,
    current,
    chains.entries().map(([path, { first }]) => [path, first]),
  );
  // Restoring a file where someone else has created a directory since would remove the directory's content.
  const [taken = []] = await changesOf(repository, [{ from: current, to: commit, unsure: false }]);
  for (const { path } of taken) if (!chains.has(path)) conflicts.add(path);
  return { commit, conflicts: [...new Set([...conflicts].map(fileOf))].toSorted() };
}

function isSame(a: Side, b: Side): boolean {
  return a.mode === b.mode && a.hash === b.hash;
}

/** `files/a/b` and `modes/a/b` → `a/b` */
function fileOf(path: BytePath): string {
  return bytePathText(path.slice(path.indexOf("/") + 1));
}

/** The changes of each step. One process for all of them: a long session has thousands. */
async function changesOf(
  repository: ShadowRepository,
  steps: readonly CommitStep[],
): Promise<readonly (readonly RawChange[])[]> {
  if (steps.length === 0) return [];
  // The second commit acts as the parent of the first.
  const input = Buffer.from(steps.map(({ from, to }) => `${to} ${from}\n`).join(""));
  const args = ["diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "--no-renames", "--full-index"];
  let parts: readonly string[] = splitNul((await repository.git(args, { input })).stdout);
  const leftOut = await leftOutOf(repository, [...new Set(steps.map(({ to }) => to))]);
  return steps.map(({ to }) => {
    // Each part begins with the hash of its commit.
    const { changes, rest } = readRaw(parts.slice(1));
    parts = rest;
    const isUnknown = leftOutTest(leftOut.get(to) ?? []);
    // Files left out of a checkpoint still exist: they were not deleted.
    const isKept = ({ path, status }: RawChange): boolean => status !== "D" || !isUnknown(path.slice(6));
    return changes.filter((change) => change.path !== LEFT_OUT && isKept(change));
  });
}

async function leftOutOf(
  repository: ShadowRepository,
  commits: readonly string[],
): Promise<ReadonlyMap<string, readonly BytePath[]>> {
  const input = Buffer.from(commits.map((commit) => `${commit}:${LEFT_OUT}\n`).join(""));
  const { stdout } = await repository.git(["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const found = new Map<string, readonly BytePath[]>();
  for (const [index, line] of stdout.toString().trimEnd().split("\n").entries()) {
    const [hash = "", type] = line.split(" ");
    const commit = commits[index];
    if (type === "blob" && commit !== undefined)
      found.set(commit, splitNul((await repository.git(["cat-file", "blob", hash])).stdout));
  }
  return found;
}

async function entriesAt(
  repository: ShadowRepository,
  commit: string,
  paths: Iterable<BytePath>,
): Promise<ReadonlyMap<BytePath, Side>> {
  const wanted = new Set(paths);
  if (wanted.size === 0) return new Map();
  const { stdout } = await repository.git(["ls-tree", "-r", "-z", "--full-tree", commit]);
  const entries = splitNul(stdout).map((line): [BytePath, Side] => {
    const tab = line.indexOf("\t");
    return [line.slice(tab + 1), { mode: line.slice(0, 6), hash: line.slice(tab - 40, tab) }];
  });
  return new Map(entries.filter(([path]) => wanted.has(path)));
}

/** `base` with other entries, or these entries alone. */
async function commitWith(
  repository: ShadowRepository,
  base: string | undefined,
  entries: Iterable<readonly [BytePath, Side]>,
): Promise<string> {
  const index = join(repository.path, `look-${randomName()}`);
  try {
    await repository.git(base === undefined ? ["read-tree", "--empty"] : ["read-tree", base], { index });
    // Deletions first, so that a directory can replace a file and vice versa.
    const changes = [...entries].toSorted(
      ([, a], [, b]) => Number(a.mode !== NOTHING.mode) - Number(b.mode !== NOTHING.mode),
    );
    const lines = changes.map(([path, { mode, hash }]) => `${mode} ${hash}\t${path}\0`).join("");
    const input = Buffer.from(lines, "latin1");
    if (changes.length > 0) await repository.git(["update-index", "-z", "--index-info"], { index, input });
    const tree = (await repository.git(["write-tree"], { index })).stdout.toString().trim();
    return await commitTree(repository.path, tree);
  } finally {
    await rm(index, { force: true });
  }
}
