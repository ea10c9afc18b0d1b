import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { BranchExport, BranchRequest, WorkspacePlace } from "../../core/workspace.ts";
import { chooseBranch, SESSION_TRAILER } from "./branch.ts";
import { contentChanges } from "./changes.ts";
import type { Checkpoint } from "./checkpoint-commit.ts";
import { exportable } from "./exportable.ts";
import { bytePath, joinNul, splitNul } from "./paths.ts";
import type { RawChange } from "./raw-changes.ts";
import type { ShadowRepository } from "./repository.ts";
import { type UserRepository, userRepository } from "./user-repository.ts";

interface ExportTask extends Omit<BranchRequest, "from" | "to"> {
  readonly place: WorkspacePlace;
  readonly from: Checkpoint;
  readonly to: Checkpoint;
}

/**
 * One commit on the branch, made beside every checkout: of the user's files none is touched. Files go in as the user's
 * own `git add` would take them, line endings and filters included.
 */
export async function exportBranch(repository: ShadowRepository, task: ExportTask): Promise<BranchExport> {
  const { place, from, to, branch, message } = task;
  const user = await userRepository(place);
  const { tip, parent, checkedOut } = await chooseBranch(user, { branch, base: task.base, sessionId: place.sessionId });
  const aside = await mkdtemp(join(repository.path, "export-"));
  const index = join(aside, "index");
  try {
    if (parent !== undefined) await user.git(["read-tree", parent], { index });
    const changes = (await contentChanges(repository, from, to)).map((change) => ({
      ...change,
      path: bytePath(user.prefix) + change.path,
    }));
    const exported = await exportable(user, { changes, index });
    await putInto(repository, user, { aside, index, changes: exported });
    const tree = line(await user.git(["write-tree"], { index }));
    const exists = { branch, repository: user.gitDirectory };
    // The branch has it all already.
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

interface Put {
  readonly aside: string;
  readonly index: string;
  readonly changes: readonly RawChange[];
}

/** Written out with their bytes as they are, and read in by the user's repository. */
async function putInto(
  repository: ShadowRepository,
  user: UserRepository,
  { aside, index, changes }: Put,
): Promise<void> {
  const written = changes.filter(({ status }) => status !== "D");
  const gone = changes.filter(({ status }) => status === "D").map(({ path }) => removal(path));
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
  const configured = async (key: string): Promise<string> => line(await user.git(["config", key], { accept: [1] }));
  const name = (await configured("user.name")) || "Capstan";
  const email = (await configured("user.email")) || "capstan@localhost";
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
  const before = tip ?? "0".repeat(40);
  const moved = await user.git(["update-ref", "-m", "capstan: export", `refs/heads/${branch}`, commit, before], {
    accept: [1, 128],
  });
  if (moved.code !== 0)
    throw new CapstanError(
      "workspace_conflict",
      `The branch ${branch} was changed by someone else in this moment, or cannot be made: ${moved.stderr.trim()} Repeat it, or choose another name.`,
      { data: { branch } },
    );
}

/** Where the branch is checked out, the files are there already: git only has to be told that they are committed. */
async function updateWorktree(user: UserRepository, { index, changes }: Omit<Put, "aside">): Promise<void> {
  if (user.worktree === undefined) return;
  const { top, gitDirectory } = user.worktree;
  const listing = await user.git(["ls-files", "-s", "-z"], { index });
  const paths = new Set(changes.map(({ path }) => path));
  const entries = splitNul(listing.stdout).filter((entry) => paths.has(entry.slice(entry.indexOf("\t") + 1)));
  const gone = changes.filter(({ status }) => status === "D").map(({ path }) => removal(path));
  const input = bytes([...gone, ...entries.map((entry) => `${entry}\0`)]);
  await user.git(["update-index", "-z", "--add", "--replace", "--index-info"], { gitDirectory, workTree: top, input });
  await user.git(["update-index", "-q", "--refresh"], { gitDirectory, workTree: top, accept: [1] });
}

function removal(path: string): string {
  return `0 ${"0".repeat(40)}\t${path}\0`;
}

function bytes(entries: readonly string[]): Buffer {
  return Buffer.from(entries.join(""), "latin1");
}

function line({ stdout }: { readonly stdout: Buffer }): string {
  return stdout.toString().trim();
}
