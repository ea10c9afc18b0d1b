import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram, hostPath, safePath } from "../../process/programs.ts";
import { statsOf } from "./fingerprints.ts";
import { isHarmlessRepository } from "./harmless-repository.ts";

const run = promisify(execFile);

/** Ignore all git configuration, and run and write nothing. */
const OPTIONS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  LC_ALL: "C",
};
const LIMITS = { timeout: 30_000, maxBuffer: 256 * 1_048_576 };
/** At most this many levels of nested repositories are searched. */
const MAX_DEPTH = 8;

interface LinkedRepositories {
  readonly repositories: readonly string[];
  /** Those at the last level that is looked at. */
  readonly tooDeep: readonly string[];
}

/**
 * Repositories that git enters when someone runs git status in a workspace, because the index names them: the paths of
 * their `.git`, at any depth. Empty if there is no repository.
 */
export async function linkedRepositories(cwd: string, depth = 0): Promise<LinkedRepositories> {
  const git = findProgram("git", { outside: cwd });
  if (git === undefined) return { repositories: [], tooDeep: [] };
  const env = { ...ENVIRONMENT, PATH: safePath(hostPath(), { outside: cwd }) };
  const asked = run(git, [...OPTIONS, "ls-files", "--stage", "-z"], { cwd, env, ...LIMITS });
  const { stdout } = await asked.catch((thrown: unknown) => {
    if (isNoRepository(thrown)) return { stdout: "" };
    throw thrown;
  });
  const links = stdout
    .split("\0")
    .filter((line) => line.startsWith("160000 "))
    .map((line) => join(cwd, line.slice(line.indexOf("\t") + 1)));
  const repositories: string[] = [];
  const tooDeep: string[] = [];
  for (const directory of new Set(links)) {
    const repository = join(directory, ".git");
    if (statsOf(repository) === undefined) continue;
    repositories.push(repository);
    // Once a repository is disabled, git does not reach the ones inside it.
    if (!isHarmlessRepository(repository)) continue;
    if (depth >= MAX_DEPTH) tooDeep.push(repository);
    else {
      const below = await linkedRepositories(directory, depth + 1);
      repositories.push(...below.repositories);
      tooDeep.push(...below.tooDeep);
    }
  }
  return { repositories, tooDeep };
}

function isNoRepository(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === 128;
}
