import { lstatSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import type { BranchExport, BranchRequest, WorkspaceLocation } from "../../../core/ports/workspace.ts";
import { chooseBranch, SESSION_TRAILER } from "./branch.ts";
import { branchMap } from "./branch-map.ts";
import { contentChanges } from "../changes/changes.ts";
import type { CheckpointCommit } from "../checkpoint-commit.ts";
import { exportable } from "./exportable.ts";
import { withoutUnknown } from "../changes/left-out.ts";
import { joinNul, listPaths, bytePathText, splitNul } from "../paths.ts";
import type { RawChange } from "../changes/raw-changes.ts";
import type { ShadowRepository } from "../repository.ts";
import { type UserRepository, userRepository } from "../user-repository.ts";

interface ExportTask extends Omit<BranchRequest, "from" | "to"> {
  readonly place: WorkspaceLocation;
  /** The session's directory. */
  readonly directory: string;
  readonly from: CheckpointCommit;
  readonly to: CheckpointCommit;
}

/**
 * Adds one commit to the branch without touching the user's files. Files are added like with the user's `git add`, with
 * line endings and filters from the user's configuration, not the repository's.
 */
export async function exportBranch(repository: ShadowRepository, task: ExportTask): Promise<BranchExport> {
  const { place, from, to, branch, message } = task;
  const user = await userRepository(place, task.directory);
  const { tip, parent, checkedOut } = await chooseBranch(user, { branch, base: task.base, sessionId: place.sessionId });
  const aside = await mkdtemp(join(repository.path, "export-"));
  const index = join(aside, "index");
  try {
    if (parent !== undefined) await user.git(["read-tree", parent], { index });
    const { files, unknown } = await withoutUnknown(repository, from, to);
    const where = branchMap(user, place, task.mounts);
    const found = (await contentChanges(repository, from, files)).map((change) => ({ change, at: where(change.path) }));
    const changes = found.flatMap(({ change, at }) => (at === undefined ? [] : [{ ...change, path: at }]));
    const exported = await exportable(user, { changes, index });
    const taken = new Set<string | undefined>(exported.map(({ path }) => path));
    const others = found.filter(({ at }) => at === undefined || !taken.has(at)).map(({ change }) => change.path);
    const skipped = [...others, ...unknown].map(bytePathText);
    if (exported.length === 0) throw nothingToExport(skipped);
    await putInto(repository, user, { aside, index, changes: exported });
    const tree = line(await user.git(["write-tree"], { index }));
    const exists = { branch, repository: user.gitDirectory, skipped };
    // The branch already contains everything.
    if (tip !== undefined && tree === line(await user.git(["rev-parse", `${tip}^{tree}`])))
      return { ...exists, commit: tip };
    const commit = await commitTree(user, {
      tree,
      parent,
      message: `${message}\n\n${SESSION_TRAILER}: ${place.sessionId}\n`,
    });
    await moveBranch(user, { branch, commit, tip });
    if (checkedOut) await updateWorktree(user, { index, changes: exported });
    return { ...exists, commit };
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function nothingToExport(skipped: readonly string[]): CapstanError {
  const why =
    skipped.length === 0
      ? "no file has changed since the start"
      : `everything that changed is ignored by git there, in a submodule, read-only, outside of the repository or in no checkpoint: ${listPaths(skipped)}. Export it as a patch or a zip file`;
  return new CapstanError("not_found", `Nothing to export to a branch: ${why}.`, { data: { skipped } });
}

interface Put {
  readonly aside: string;
  readonly index: string;
  readonly changes: readonly RawChange[];
}

/** Writes the exact bytes and reads them into the user's repository. */
async function putInto(
  repository: ShadowRepository,
  user: UserRepository,
  { aside, index, changes }: Put,
): Promise<void> {
  const written = changes.filter(({ status }) => status !== "D");
  const gone = changes.filter(({ status }) => status === "D").map(({ path }) => removal(user, path));
  if (gone.length > 0) await user.git(["update-index", "-z", "--index-info"], { index, input: bytes(gone) });
  if (written.length === 0) return;
  const files = join(aside, "files");
  const contents = join(aside, "contents");
  await mkdir(files);
  const entries = written.map(({ path, after }) => `${after.mode} ${after.hash}\t${path}\0`);
  await repository.git(["update-index", "-z", "--add", "--index-info"], { index: contents, input: bytes(entries) });
  await repository.git(["checkout-index", "--all", "--quiet", `--prefix=${files}/`], { index: contents });
  await user.git(["update-index", "--add", "--replace", "-z", "--stdin"], {
    index,
    workTree: files,
    input: joinNul(written.map(({ path }) => path)),
  });
}

async function commitTree(
  user: UserRepository,
  { tree, parent, message }: { readonly tree: string; readonly parent: string | undefined; readonly message: string },
): Promise<string> {
  const readConfig = async (key: string): Promise<string> => line(await user.git(["config", key], { accept: [1] }));
  const name = (await readConfig("user.name")) || "Capstan";
  const email = (await readConfig("user.email")) || "capstan@localhost";
  const environment = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
  const parents = parent === undefined ? [] : ["-p", parent];
  return line(await user.git(["commit-tree", ...parents, "-F", "-", tree], { environment, input: message }));
}

async function moveBranch(
  user: UserRepository,
  { branch, commit, tip }: { readonly branch: string; readonly commit: string; readonly tip: string | undefined },
): Promise<void> {
  // If there is no tip, the branch must not exist.
  const before = tip ?? "";
  const moved = await user.git(["update-ref", "-m", "capstan: export", `refs/heads/${branch}`, commit, before], {
    accept: [1, 128],
  });
  if (moved.code !== 0)
    throw new CapstanError(
      "workspace_conflict",
      `The branch ${branch} was just changed by someone else, or cannot be created: ${moved.stderr.trim()} Try again, or use another name.`,
      { data: { branch } },
    );
}

/**
 * If the branch is checked out, its files are already there, so only the index is updated. Uses nothing else of the
 * worktree's git data: the agent may have written it, and it could name programs.
 */
async function updateWorktree(user: UserRepository, { index, changes }: Omit<Put, "aside">): Promise<void> {
  if (user.worktree === undefined) return;
  const own = { index: user.worktree.index, workTree: user.worktree.top };
  // Git would write through a link.
  if (lstatSync(own.index, { throwIfNoEntry: false })?.isFile() !== true) return;
  const listing = await user.git(["ls-files", "-s", "-z"], { index });
  const paths = new Set(changes.map(({ path }) => path));
  const entries = splitNul(listing.stdout).filter((entry) => paths.has(entry.slice(entry.indexOf("\t") + 1)));
  const gone = changes.filter(({ status }) => status === "D").map(({ path }) => removal(user, path));
  const input = bytes([...gone, ...entries.map((entry) => `${entry}\0`)]);
  await user.git(["update-index", "-z", "--add", "--replace", "--index-info"], { ...own, input });
  await user.git(["update-index", "-q", "--refresh"], { ...own, accept: [1] });
}

function removal({ hashLength }: UserRepository, path: string): string {
  return `0 ${"0".repeat(hashLength)}\t${path}\0`;
}

function bytes(entries: readonly string[]): Buffer {
  return Buffer.from(entries.join(""), "latin1");
}

function line({ stdout }: { readonly stdout: Buffer }): string {
  return stdout.toString().trim();
}
