import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { WorkspaceLocation } from "../../core/ports/workspace.ts";
import { git, type GitOptions, type GitOutput } from "../git.ts";
import { liesIn } from "../host-paths.ts";
import { QUIET, withoutFilters } from "../repository.ts";

/** The repository that a workspace's files came from, and how the two relate. */
export interface UserRepository {
  readonly gitDirectory: string;
  /** A directory laid out like the repository, with the ignore rules that apply to the workspace. */
  readonly checkout: string;
  /** The path of the workspace's root in the repository: empty, or with a trailing slash. */
  readonly prefix: string;
  /** The session's own worktree: its root, and the path of its index. */
  readonly worktree: { readonly top: string; readonly index: string } | undefined;
  /** The length of its object hashes. */
  readonly hashLength: number;
  /**
   * `index` and `workTree` replace the repository's own. Runs no hooks, and no filters that only the repository
   * configures.
   */
  git(args: readonly string[], options?: UserGitOptions): Promise<GitOutput>;
}

interface UserGitOptions extends Pick<GitOptions, "input" | "accept" | "environment"> {
  readonly index?: string;
  readonly workTree?: string;
}

const ASKED = [
  "rev-parse",
  "--path-format=absolute",
  "--show-object-format",
  "--git-dir",
  "--git-common-dir",
  "--show-prefix",
];

/** Rejects with `workspace_invalid` if there is none. `directory` is the session's, which contains its checkout. */
export async function userRepository(place: WorkspaceLocation, directory: string): Promise<UserRepository> {
  const { source, cwd, kind } = place;
  const found = existsSync(source) ? await git([...QUIET, ...ASKED], { cwd: source, accept: [128] }) : undefined;
  const [format, gitDirectory = "", common = "", sourcePrefix = ""] = found?.stdout.toString().split("\n") ?? [];
  if (found?.code !== 0)
    throw new CapstanError(
      "workspace_invalid",
      `The source ${source} is not in a git repository. Export the changes as a patch or a zip file.`,
      { data: { source } },
    );
  const copied = kind === "copy" || kind === "in-place";
  // Do not ask git: what the agent wrote to `.git` in its workspace must not decide where we write.
  const top = copied ? upFrom(source, sourcePrefix) : real(join(directory, "files"));
  if (!copied && !liesIn(real(cwd), top))
    throw new CapstanError("workspace_invalid", `${cwd} is not in the session's own checkout, ${top}.`);
  const prefix = copied ? sourcePrefix : withSlash(relative(top, real(cwd)));
  const worktree = kind === "worktree" ? worktreeAt(common, top) : undefined;
  const user = { HOME: homedir(), ...userConfiguration() };
  const { options: quiet } = await withoutFilters([...QUIET, "-c", "core.sparseCheckout=false"], {
    cwd: gitDirectory,
    environment: { ...user, GIT_DIR: gitDirectory },
  });
  return {
    gitDirectory,
    checkout: top,
    prefix,
    worktree,
    hashLength: format === "sha256" ? 64 : 40,
    git: (args, { index, workTree, environment = {}, ...options } = {}) =>
      git([...quiet, ...args], {
        ...options,
        cwd: workTree ?? gitDirectory,
        environment: {
          ...user,
          ...environment,
          GIT_DIR: gitDirectory,
          ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
          ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
        },
      }),
  };
}

/** The user's name, and the user's git settings for ignoring and converting files. */
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

function withSlash(path: string): string {
  return path === "" ? "" : `${path}/`;
}

/** Git records for each worktree where its `.git` is. */
function worktreeAt(common: string, top: string): UserRepository["worktree"] {
  const notes = join(common, "worktrees");
  if (!existsSync(notes)) return undefined;
  const wanted = directoryOf(join(top, ".git"));
  const name = readdirSync(notes).find((entry) => {
    const note = join(notes, entry, "gitdir");
    return existsSync(note) && directoryOf(readFileSync(note, "utf8").trim()) === wanted;
  });
  return name === undefined ? undefined : { top, index: join(notes, name, "index") };
}

/** Does not resolve `.git` itself: the agent may have replaced it with a link. */
function directoryOf(file: string): string {
  return join(real(dirname(file)), basename(file));
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
