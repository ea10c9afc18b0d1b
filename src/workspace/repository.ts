import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { CapstanError } from "../core/errors.ts";
import { git, type GitOptions } from "./git.ts";

/** A git repository of the host. */
export interface Repository {
  /** The root of its checkout; for a bare repository, the directory it was found from. */
  readonly top: string;
  /** From there to the directory it was found from; empty for the root itself. */
  readonly prefix: string;
  readonly isBare: boolean;
  /** Options for every command in it. */
  readonly options: readonly string[];
}

/** Prevents the repository's configuration from running programs. Filters are turned off one by one. */
export const QUIET = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "log.showSignature=false",
] as const;

interface FiltersOff {
  readonly options: readonly string[];
  /** The names of the filters that are off. */
  readonly names: readonly string[];
  /** Whether the repository's configuration differs in another worktree or on another branch. */
  readonly hasConditions: boolean;
}

/**
 * Options that turn off filters in a repository's own configuration: programs that git runs for each file. If the user
 * has a filter of that name, theirs stays.
 */
export async function withoutFilters(
  options: readonly string[],
  context: Pick<GitOptions, "cwd" | "environment" | "signal">,
): Promise<FiltersOff> {
  const args = ["config", "-z", "--show-scope", "--get-regexp", String.raw`^(filter|includeif)\.`];
  const { stdout } = await git([...options, ...args], { ...context, accept: [1] });
  const parts = stdout.toString().split("\0");
  const theirs = new Map<string, string>();
  const own = new Set<string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope, setting = ""] = [parts[at], parts[at + 1]];
    const end = setting.indexOf("\n");
    const key = end < 0 ? setting : setting.slice(0, end);
    if (scope === "local" || scope === "worktree") own.add(key);
    else theirs.set(key, end < 0 ? "true" : setting.slice(end + 1));
  }
  const filters = [...own].filter((key) => key.startsWith("filter."));
  const names = [...new Set(filters.map((key) => key.slice("filter.".length, key.lastIndexOf("."))))];
  const odd = names.find((name) => /[=\uFFFD]/.test(name));
  // Git cannot take this name as an option.
  if (odd !== undefined)
    throw new CapstanError(
      "workspace_invalid",
      `The repository configures a filter with an unusual name, ${odd}. Remove it from the repository's configuration.`,
    );
  const off = names.flatMap((name) =>
    ["clean", "smudge", "process", "required"].map((part): [string, string] => {
      const key = `filter.${name}.${part}`;
      return [key, theirs.get(key) ?? (part === "required" ? "false" : "")];
    }),
  );
  const quiet = [...options, ...off.flatMap(([key, value]) => ["-c", `${key}=${value}`])];
  return { options: quiet, names, hasConditions: own.size > filters.length };
}

/** The repository that contains a directory, or undefined. The directory has its links resolved. */
export async function findRepository(
  directory: string,
  home: string | undefined,
  signal?: AbortSignal,
): Promise<Repository | undefined> {
  // These answers contain no names, which could contain line breaks.
  const question = ["rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-cdup"];
  let options: readonly string[] = QUIET;
  let answer: string;
  try {
    answer = (await git([...options, ...question], { cwd: directory, signal })).stdout.toString();
  } catch (error) {
    if (!(error instanceof CapstanError)) throw error;
    if (/not a git repository/i.test(error.message)) return undefined;
    if (!/dubious ownership/i.test(error.message)) throw error;
    // It belongs to another user. The user may have told git to trust it, which our environment hides.
    answer = await trustedAnswer(question, directory, home);
    options = [...QUIET, "-c", "safe.directory=*"];
  }
  const [isBare, isInside, up = ""] = answer.split("\n");
  if (isBare === "true") return { top: directory, prefix: "", isBare: true, options };
  if (isInside !== "true")
    throw new CapstanError(
      "workspace_invalid",
      `${directory} is in the .git directory of a repository. Start the session in its checkout.`,
    );
  const top = await realpath(resolve(directory, up));
  return { top, prefix: relative(top, directory), isBare: false, options };
}

async function trustedAnswer(question: readonly string[], cwd: string, home: string | undefined): Promise<string> {
  try {
    const environment: Record<string, string> = home === undefined ? {} : { HOME: home };
    return (await git(question, { cwd, configured: true, environment })).stdout.toString();
  } catch (error) {
    throw new CapstanError(
      "workspace_invalid",
      `The repository of ${cwd} belongs to another user, and git does not trust it. If you do, run: ` +
        `git config --global --add safe.directory ${cwd}`,
      { cause: error },
    );
  }
}

/** The full hash of the commit, or undefined. */
export async function commitOf(
  { top, options }: Pick<Repository, "top" | "options">,
  revision: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const { stdout, code } = await git([...options, ...args], { cwd: top, signal, accept: [1, 128] });
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** What a checkout of the commit lacks without visible signs; one sentence each. */
export async function contentNotes(
  { top, options }: Pick<Repository, "top" | "options">,
  commit: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const paths = [".gitmodules", ":(glob)**/.gitattributes"];
  const args = [
    "grep",
    "-l",
    "-z",
    "-E",
    "-e",
    "filter=lfs",
    "-e",
    "^[[:space:]]*\\[submodule",
    commit,
    "--",
    ...paths,
  ];
  const { stdout } = await git([...options, ...args], { cwd: top, signal, accept: [1] });
  const found = stdout
    .toString()
    .split("\0")
    .filter((name) => name !== "");
  const notes: string[] = [];
  if (found.some((name) => name.endsWith(":.gitmodules")))
    notes.push("The submodules of the repository are not checked out in the workspace.");
  if (found.some((name) => name.endsWith(".gitattributes")))
    notes.push("Large files from Git LFS may be pointers in the workspace; run git lfs pull to fetch them.");
  return notes;
}
