import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { WorkspacePlace } from "../../core/workspace.ts";
import { git, type GitOptions, type GitOutput } from "../git.ts";

/** The repository that the files of a workspace came from, and what the workspace is to it. */
export interface UserRepository {
  readonly gitDirectory: string;
  /** A directory laid out like the repository, with the ignore rules that count for the workspace. */
  readonly checkout: string;
  /** Where the root of the workspace stands in the repository: empty, or with a slash at the end. */
  readonly prefix: string;
  /** The session's own worktree of it: its root and what git keeps about it. */
  readonly worktree: { readonly top: string; readonly gitDirectory: string } | undefined;
  /** `index` and `workTree` stand in for its own. No hook runs. */
  git(args: readonly string[], options?: UserGitOptions): Promise<GitOutput>;
}

interface UserGitOptions extends Pick<GitOptions, "input" | "accept" | "environment"> {
  readonly gitDirectory?: string;
  readonly index?: string;
  readonly workTree?: string;
}

/** Rejects with `workspace_invalid` when there is none. */
export async function userRepository(place: WorkspacePlace): Promise<UserRepository> {
  const { source, cwd, kind } = place;
  const asked = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-prefix"];
  const found = existsSync(source) ? await git(asked, { cwd: source, accept: [128] }) : undefined;
  const [gitDirectory = "", common = "", sourcePrefix = ""] = found?.stdout.toString().split("\n") ?? [];
  if (found?.code !== 0)
    throw new CapstanError(
      "workspace_invalid",
      `${source}, where the files came from, is not in a git repository. Export them as a patch or a zip file.`,
      { data: { source } },
    );
  const copied = kind === "copy" || kind === "in-place";
  // Not asked of git: what the agent wrote to `.git` in its own workspace must not say where we write.
  const top = copied ? upFrom(source, sourcePrefix) : checkoutAbove(cwd);
  const prefix = copied ? sourcePrefix : slashed(relative(top, cwd));
  const worktree = kind === "worktree" ? worktreeAt(common, top) : undefined;
  const user = { HOME: homedir(), ...userConfiguration() };
  return {
    gitDirectory,
    checkout: top,
    prefix,
    worktree,
    git: (args, { gitDirectory: other, index, workTree, environment = {}, ...options } = {}) =>
      git(
        ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.sparseCheckout=false", ...args],
        {
          ...options,
          cwd: workTree ?? gitDirectory,
          environment: {
            ...user,
            ...environment,
            GIT_DIR: other ?? gitDirectory,
            ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
            ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
          },
        },
      ),
  };
}

/** The user's name, and what this user's git ignores and converts. */
function userConfiguration(): Record<string, string> {
  const places = [join(homedir(), ".gitconfig"), join(homedir(), ".config", "git", "config")];
  const file = places.find((place) => existsSync(place));
  return file === undefined ? {} : { GIT_CONFIG_GLOBAL: file };
}

function upFrom(directory: string, prefix: string): string {
  return join(
    directory,
    ...prefix
      .split("/")
      .filter((part) => part !== "")
      .map(() => ".."),
  );
}

function checkoutAbove(cwd: string): string {
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (lstatSync(join(directory, ".git"), { throwIfNoEntry: false }) !== undefined) return directory;
    if (directory === dirname(directory)) return cwd;
  }
}

function slashed(path: string): string {
  return path === "" ? "" : `${path}/`;
}

/** Git notes for each worktree where its `.git` is. */
function worktreeAt(common: string, top: string): UserRepository["worktree"] {
  const notes = join(common, "worktrees");
  if (!existsSync(notes)) return undefined;
  const wanted = real(join(top, ".git"));
  const name = readdirSync(notes).find((entry) => {
    const note = join(notes, entry, "gitdir");
    return existsSync(note) && real(readFileSync(note, "utf8").trim()) === wanted;
  });
  return name === undefined ? undefined : { top, gitDirectory: join(notes, name) };
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
