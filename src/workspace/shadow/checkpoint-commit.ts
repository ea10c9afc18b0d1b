import { type Modes, readModes, sameModes, writeModes } from "./changes/modes.ts";
import { type TreeEntry, writeObject, writeRef, writeTree } from "./objects.ts";
import { type BytePath, joinNul, splitNul } from "./paths.ts";
import { EMPTY_TREE, type ShadowRepository } from "./repository.ts";

/** The state of a workspace's files. */
export interface FileState {
  /** The tree of contents, links and executable bits. */
  readonly tree: string;
  readonly modes: Modes;
}

/** A checkpoint: a commit whose tree has `files`, and `modes` and `left-out` if there are any. */
export interface CheckpointCommit extends FileState {
  readonly commit: string;
  readonly modesTree: string | undefined;
  readonly leftOut: readonly BytePath[];
}

/** All checkpoints of a session form one chain from this ref, so that git's garbage collection keeps them. */
export const REF = "refs/capstan/checkpoints";

const WHO = "Capstan <capstan@localhost> 0 +0000";

/** Undefined if there is none of that name. */
export async function readCheckpoint(
  repository: ShadowRepository,
  name: string,
): Promise<CheckpointCommit | undefined> {
  const parsed = await repository.git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], {
    accept: [1, 128],
  });
  if (parsed.code !== 0) return undefined;
  const commit = parsed.stdout.toString().trim();
  const listing = await repository.git(["ls-tree", "-z", "--full-tree", commit], { accept: [128] });
  if (listing.code !== 0) return undefined;
  const parts = new Map<string, string>();
  for (const line of splitNul(listing.stdout)) {
    const tab = line.indexOf("\t");
    parts.set(line.slice(tab + 1), line.slice(tab - 40, tab));
  }
  const leftOut = parts.get("left-out");
  return {
    commit,
    tree: parts.get("files") ?? EMPTY_TREE,
    modesTree: parts.get("modes"),
    modes: await readModes(repository, parts.get("modes")),
    leftOut: leftOut === undefined ? [] : splitNul((await repository.git(["cat-file", "blob", leftOut])).stdout),
  };
}

/**
 * Commits on top of `parent` and moves the ref. Skips commits of an orphaned process of a dead host, because nothing
 * refers to them.
 */
export async function commitFiles(
  { path }: ShadowRepository,
  files: FileState,
  { parent, leftOut }: { readonly parent: CheckpointCommit | undefined; readonly leftOut: readonly BytePath[] },
): Promise<CheckpointCommit> {
  const { tree, modesTree } = await checkpointTree(path, files, { parent, leftOut });
  const commit = await commitTree(path, tree, parent?.commit);
  await writeRef(path, REF, commit);
  return { ...files, commit, modesTree, leftOut };
}

/** Creates a commit that is not a checkpoint of the session: no ref leads to it. */
export async function commitAside(
  { path }: ShadowRepository,
  files: FileState,
  leftOut: readonly BytePath[],
): Promise<string> {
  return commitTree(path, (await checkpointTree(path, files, { parent: undefined, leftOut })).tree);
}

async function checkpointTree(
  path: string,
  files: FileState,
  { parent, leftOut }: { readonly parent: CheckpointCommit | undefined; readonly leftOut: readonly BytePath[] },
): Promise<{ readonly tree: string; readonly modesTree: string | undefined }> {
  const modesTree =
    parent !== undefined && sameModes(parent.modes, files.modes)
      ? parent.modesTree
      : await writeModes(path, files.modes);
  const entries: TreeEntry[] = [{ mode: "40000", name: "files", hash: files.tree }];
  if (modesTree !== undefined) entries.push({ mode: "40000", name: "modes", hash: modesTree });
  if (leftOut.length > 0)
    entries.push({ mode: "100644", name: "left-out", hash: await writeObject(path, "blob", joinNul(leftOut)) });
  return { tree: await writeTree(path, entries), modesTree };
}

/** The same tree and parent produce the same commit. */
export async function commitTree(path: string, tree: string, parent?: string): Promise<string> {
  const lines = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${WHO}`,
    `committer ${WHO}`,
  ];
  return writeObject(path, "commit", Buffer.from(`${lines.join("\n")}\n\n`));
}
