import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkspaceSettings } from "../../core/environment/environment.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { diskFailure } from "../disk-failure.ts";
import { git } from "../git.ts";
import { liesIn } from "../host-paths.ts";
import { removeTree } from "../remove-tree.ts";
import { commitOf, contentNotes, findRepository, QUIET, type Repository, withoutFilters } from "../repository.ts";

/** A validated request for a worktree. */
export interface WorktreeRequest {
  readonly repository: Repository;
  readonly branch: string;
  /** The full hash of the commit that the branch starts from. */
  readonly base: string;
  /** Filters in the repository's own configuration; they do not run. */
  readonly filters: readonly string[];
}

interface WorktreeQuestion {
  readonly sessionId: string;
  /** Links resolved. */
  readonly source: string;
  readonly settings: Extract<WorkspaceSettings, { kind: "worktree" }>;
  readonly home: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Checkout {
  readonly cwd: string;
  readonly notes: readonly string[];
}

/** Throws `workspace_invalid` for what cannot become a worktree. */
export async function worktreeRequest(question: WorktreeQuestion): Promise<WorktreeRequest> {
  const { sessionId, source, settings, home, signal } = question;
  const branch = settings.branch ?? `capstan/${sessionId}`;
  const repository = await findRepository(source, home, signal);
  if (repository === undefined)
    throw invalid(`${source} is not in a git repository, which a worktree needs. Use the kind copy, or run git init.`);
  if (repository.isBare)
    throw invalid(`${source} is a bare repository without a checkout. Start the session in a clone of it.`);
  // In parallel, because every process takes a few milliseconds.
  const [base, isValid, exists, filters] = await Promise.all([
    commitOf(repository, settings.base ?? "HEAD", signal),
    isBranchName(branch, signal),
    branchExists(repository, branch, signal),
    withoutFilters(repository.options, { cwd: repository.top, signal }),
  ]);
  if (!isValid)
    throw invalid(
      `environment.workspace.branch: git does not accept the name ${JSON.stringify(branch)}. Use another name.`,
    );
  if (base === undefined) throw await withoutCommit(repository, settings.base, signal);
  if (exists) throw branchTaken(branch, repository);
  // There it may configure other filters, which could not be turned off.
  if (filters.hasConditions)
    throw invalid(
      `The configuration of ${repository.top} differs in another worktree (includeIf) and may run programs ` +
        "there. Use the kind clone or copy, or move that setting to your own configuration.",
    );
  return { repository: { ...repository, options: filters.options }, branch, base, filters: filters.names };
}

async function isBranchName(branch: string, signal: AbortSignal | undefined): Promise<boolean> {
  const { stdout } = await git(["check-ref-format", "--branch", branch], { cwd: "/", signal, accept: [1, 128, 129] });
  // It also resolves `@{-1}` to the name of another branch.
  return stdout.toString().replace(/\n$/, "") === branch;
}

async function branchExists(
  { top, options }: Repository,
  branch: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const args = [...options, "show-ref", "--verify", "--quiet", `refs/heads/${branch}`];
  return (await git(args, { cwd: top, signal, accept: [1, 128] })).code === 0;
}

async function withoutCommit(
  repository: Repository,
  base: string | undefined,
  signal: AbortSignal | undefined,
): Promise<CapstanError> {
  const { top } = repository;
  if (base !== undefined && (await commitOf(repository, "HEAD", signal)) !== undefined)
    return invalid(`environment.workspace.base: ${top} has no commit ${JSON.stringify(base)}. Name an existing one.`);
  return invalid(`The repository ${top} has no commit yet, so there is nothing to check out. Commit something first.`);
}

/** Creates the branch and its worktree in `files`. The user's checkout, index and HEAD do not change. */
export async function addWorktree(
  { repository, branch, base, filters }: WorktreeRequest,
  files: string,
  signal: AbortSignal | undefined,
): Promise<Checkout> {
  const { top, prefix, options } = repository;
  await makeBranch(repository, branch, base, signal);
  try {
    const [notes, content] = await Promise.all([
      checkoutNotes(repository, signal),
      contentNotes(repository, base, signal),
      retryWhileLocked(
        () => git([...options, "worktree", "add", "--quiet", files, branch], { cwd: top, signal }),
        signal,
      ),
    ]);
    return { cwd: await subdirectory(files, prefix), notes: [...notes, ...content, ...filterNotes(filters)] };
  } catch (error) {
    await removeWorktree(top, files);
    // The branch is ours and has no commits.
    await git([...options, "update-ref", "-d", `refs/heads/${branch}`, base], { cwd: top, accept: [1, 128] });
    throw error;
  }
}

function filterNotes(filters: readonly string[]): string[] {
  if (filters.length === 0) return [];
  const names = filters.join(", ");
  return [`Filters configured in the repository (${names}) were not run: their files are as git stores them.`];
}

/** Fails if someone else has created it meanwhile, so that a later failure does not remove their branch. */
async function makeBranch(
  repository: Repository,
  branch: string,
  base: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { top, options } = repository;
  const args = [...options, "update-ref", "-m", "capstan: session started", `refs/heads/${branch}`, base, ABSENT];
  try {
    await retryWhileLocked(() => git(args, { cwd: top, signal }), signal);
  } catch (error) {
    if (/reference already exists/.test(messageOf(error))) throw branchTaken(branch, repository);
    throw error;
  }
}

/** The old value of a branch that must not exist. */
const ABSENT = "";
const ATTEMPTS = 8;
const PAUSE_MS = 40;

/** Git's message if another process holds a lock, or has just started to create a worktree. */
const TAKEN = /Unable to create '.*\.lock'|failed to read .*worktrees\//;

/** Retries, because worktrees of one repository may be added at the same time. */
async function retryWhileLocked<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !TAKEN.test(messageOf(error))) throw error;
      await sleep(PAUSE_MS * attempt, undefined, { signal });
    }
  }
}

/** What the user may miss: only commits are in the worktree. */
export async function checkoutNotes(
  { top, options }: Pick<Repository, "top" | "options">,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const args = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=dirty"];
  const { stdout } = await git([...options, ...args], { cwd: top, signal });
  const lines = stdout
    .toString()
    .split("\0")
    .filter((line) => line !== "");
  const changed = lines.filter((line) => !line.startsWith("# ")).length;
  const notes: string[] = [];
  if (changed > 0)
    notes.push(
      `${changed} uncommitted ${changed === 1 ? "file" : "files"} in ${top} ${changed === 1 ? "is" : "are"} not in the workspace.`,
    );
  if (lines.includes("# branch.head (detached)")) notes.push(`No branch is checked out in ${top} (detached HEAD).`);
  return notes;
}

/** The directory that the session was started in, in another checkout of its repository. */
export async function subdirectory(files: string, prefix: string): Promise<string> {
  const root = await realpath(files);
  const cwd = join(root, prefix);
  try {
    await mkdir(cwd, { recursive: true });
  } catch (error) {
    throw diskFailure(error, "Making", cwd);
  }
  if (!liesIn(await realpath(cwd), root))
    throw invalid(`In the commit, ${prefix} is a link out of the repository. Start the session elsewhere.`);
  return cwd;
}

/**
 * Removes the worktree and keeps the branch. Does not prune: the repository may have worktrees on disks that are not
 * mounted now. Git does not remove a worktree with submodules or a broken `.git`, but forgets one whose directory is
 * gone.
 */
export async function removeWorktree(top: string, files: string): Promise<void> {
  const args = [...QUIET, "-c", "safe.directory=*", "worktree", "remove", "--force", "--force", files];
  const { code } = await git(args, { cwd: top, accept: [128] });
  if (code === 0) return;
  await removeTree(files);
  await git(args, { cwd: top, accept: [128] });
}

function branchTaken(branch: string, { top }: Repository): CapstanError {
  return invalid(
    `The branch ${branch} already exists in ${top}. Use another name in environment.workspace.branch, or delete it: ` +
      `git branch -D ${branch}`,
  );
}

function invalid(message: string): CapstanError {
  return new CapstanError("workspace_invalid", message);
}
