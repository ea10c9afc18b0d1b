import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { WorkspacePlace } from "../../core/ports/workspace.ts";
import { git, type GitOptions, type GitOutput } from "../git.ts";
import { liesIn } from "../host-paths.ts";
import { QUIET, withoutFilters } from "../repository.ts";

/** The repository that the files of a workspace came from, and what the workspace is to it. */
export interface UserRepository {
  readonly gitDirectory: string;
  /** A directory laid out like the repository, with the ignore rules that count for the workspace. */
  readonly checkout: string;
  /** Where the root of the workspace stands in the repository: empty, or with a slash at the end. */
  readonly prefix: string;
  /** The session's own worktree of it: its root, and the path of its index. */
  readonly worktree: { readonly top: string; readonly index: string } | undefined;
  /** Of the names of its objects. */
  readonly hashLength: number;
  /** `index` and `workTree` stand in for its own. No hook runs, and no filter that only the repository configures. */
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

/** Rejects with `workspace_invalid` when there is none. `directory` is the session's, where a checkout of its own is. */
export async function userRepository(place: WorkspacePlace, directory: string): Promise<UserRepository> {
  const { source, cwd, kind } = place;
  const found = existsSync(source) ? await git([...QUIET, ...ASKED], { cwd: source, accept: [128] }) : undefined;
  const [format, gitDirectory = "", common = "", sourcePrefix = ""] = found?.stdout.toString().split("\n") ?? [];
  if (found?.code !== 0)
    throw new CapstanError(
      "workspace_invalid",
      `${source}, where the files came from, is not in a git repository. Export them as a patch or a zip file.`,
      { data: { source } },
    );
  const copied = kind === "copy" || kind === "in-place";
  // Not asked of git: what the agent wrote to `.git` in its own workspace must not say where we write.
  const top = copied ? upFrom(source, sourcePrefix) : real(join(directory, "files"));
  if (!copied && !liesIn(real(cwd), top))
    throw new CapstanError("workspace_invalid", `${cwd} does not lie in the session's own checkout, ${top}.`);
  const prefix = copied ? sourcePrefix : slashed(relative(top, real(cwd)));
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

function slashed(path: string): string {
  return path === "" ? "" : `${path}/`;
}

/** Git notes for each worktree where its `.git` is. */
function worktreeAt(common: string, top: string): UserRepository["worktree"] {
  const notes = join(common, "worktrees");
  if (!existsSync(notes)) return undefined;
  const wanted = placeOf(join(top, ".git"));
  const name = readdirSync(notes).find((entry) => {
    const note = join(notes, entry, "gitdir");
    return existsSync(note) && placeOf(readFileSync(note, "utf8").trim()) === wanted;
  });
  return name === undefined ? undefined : { top, index: join(notes, name, "index") };
}

/** The `.git` itself is not resolved: the agent may have made a link of it. */
function placeOf(file: string): string {
  return join(real(dirname(file)), basename(file));
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
