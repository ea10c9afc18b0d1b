import { CapstanError } from "../../../core/errors.ts";
import { realpathSync } from "node:fs";
import type { UserRepository } from "../user-repository.ts";

/** In every commit message, to recognize the session's own branch. */
export const SESSION_TRAILER = "Capstan-Session";

export interface ChosenBranch {
  /** The branch's current commit; undefined if it does not exist yet. */
  readonly tip: string | undefined;
  /** The parent of the commit; undefined in a repository without commits. */
  readonly parent: string | undefined;
  /** Whether it is checked out in the session's own worktree. */
  readonly checkedOut: boolean;
}

interface BranchChoice {
  readonly branch: string;
  readonly base: string | undefined;
  readonly sessionId: string;
}

/** Rejects unless the branch is new or the session's own, and not checked out elsewhere. */
export async function chooseBranch(
  user: UserRepository,
  { branch, base, sessionId }: BranchChoice,
): Promise<ChosenBranch> {
  const name = await user.git(["check-ref-format", `refs/heads/${branch}`], { accept: [1] });
  if (name.code !== 0 || branch.startsWith("-"))
    throw new CapstanError("workspace_invalid", `${branch}" is not a valid branch name for git. Use another name.`, {
      data: { branch },
    });
  // Also works before the branch has a commit.
  const places = await checkouts(user, branch);
  const own = user.worktree === undefined ? undefined : realpathSync(user.worktree.top);
  const other = places.find((place) => place !== own);
  if (other !== undefined) throw conflict(branch, `is checked out in ${other}`);
  const checkedOut = places.length > 0;
  const tip = await commitOf(user, `refs/heads/${branch}`);
  if (tip === undefined) return { tip, parent: await startOf(user, base), checkedOut };
  const message = (await user.git(["log", "-1", "--format=%B", tip])).stdout.toString();
  const ours =
    checkedOut || branch === `capstan/${sessionId}` || message.includes(`${SESSION_TRAILER}: ${sessionId}\n`);
  if (!ours) throw conflict(branch, "exists and does not belong to this session");
  return { tip, parent: tip, checkedOut };
}

async function startOf(user: UserRepository, base: string | undefined): Promise<string | undefined> {
  if (base === undefined) return commitOf(user, "HEAD");
  const commit = await commitOf(user, base);
  if (commit !== undefined) return commit;
  throw new CapstanError(
    "workspace_invalid",
    `The repository has no commit ${base}. Export a patch or a zip file instead.`,
    { data: { base } },
  );
}

async function commitOf(user: UserRepository, name: string): Promise<string | undefined> {
  const { stdout, code } = await user.git(
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
    {
      accept: [1, 128],
    },
  );
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** Directories in which it is checked out, with links resolved. */
async function checkouts(user: UserRepository, branch: string): Promise<string[]> {
  const { stdout } = await user.git(["worktree", "list", "--porcelain"]);
  return stdout
    .toString()
    .split("\n\n")
    .filter((block) => block.split("\n").includes(`branch refs/heads/${branch}`))
    .flatMap((block) => /^worktree (.*)$/m.exec(block)?.[1] ?? [])
    .map((place) => {
      try {
        return realpathSync(place);
      } catch {
        return place;
      }
    });
}

function conflict(branch: string, why: string): CapstanError {
  return new CapstanError("workspace_conflict", `The branch ${branch} ${why}. Use another name.`, {
    data: { branch },
  });
}
