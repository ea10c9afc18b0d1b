import { lstatSync, readFileSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type SandboxPlan, sandboxPlan } from "../../core/environment/sandbox.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { PreparedMount } from "../../core/ports/workspace.ts";
import { configurationIn } from "./find-configuration.ts";
import { realPath } from "../paths/real-path.ts";
import type { SessionBasics, SessionSurroundings } from "../session-deps.ts";

interface Surroundings extends SessionSurroundings {
  readonly record: Pick<SessionRecord, "cwd" | "source" | "environment"> & Partial<Pick<SessionRecord, "agent">>;
}

type Mount = Pick<PreparedMount, "source" | "target" | "readOnly">;

/** Returns a session's sandbox according to its environment. `mounts` are known once its workspace is created. */
export function sandboxOf(
  { record, home, capstanHome, stateDir, variables, secretFiles }: Surroundings,
  mounts: readonly Mount[] = [],
): SandboxPlan {
  const { cwd, environment } = record;
  // A clone may come from a URL, which cannot be a base for relative paths.
  const source = isAbsolute(record.source) ? record.source : cwd;
  return sandboxPlan(environment.sandbox, {
    cwd,
    source,
    home,
    capstanHome,
    stateDir,
    secretFiles: secretFiles.flatMap((file) => [file, ...copiesOf(file, { cwd, source, mounts })]),
    temporary: tmpdir(),
    sharedTemporary: "/tmp",
    readOnlyMounts: mounts.filter(({ readOnly }) => readOnly).map(({ target }) => resolve(cwd, target)),
    gitDirectories: gitDirectories(cwd),
    configuration: environment.sandbox.mode === "off" ? [] : configurationIn(cwd, record.agent),
    variables,
    real: realPath,
  });
}

export function sessionSandbox(parts: Surroundings & Pick<SessionBasics, "log">): SandboxPlan {
  return sandboxOf(parts, parts.log.state.files.workspace?.mounts);
}

/**
 * Where a file would be in a workspace created from its directory, whether or not it was copied. The checkout of a
 * whole repository may begin above the agent's working directory.
 */
function copiesOf(
  file: string,
  { cwd, source, mounts }: { cwd: string; source: string; mounts: readonly Mount[] },
): string[] {
  const real = realPath(file);
  const places = [{ source: realPath(source), target: "." }, ...mounts];
  return places.map(({ source: from, target }) => resolve(cwd, target, relative(from, real)));
}

/** If `.git` is a file, one line in it names the directory. */
const MAX_LINK_BYTES = 10_000;

/**
 * Where git keeps the data of a workspace. The agent may have written `.git`, so a worktree counts only if its
 * repository lists it.
 */
export function gitDirectories(cwd: string): string[] {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const link = join(directory, ".git");
    const stats = lookAt(link);
    if (stats?.isDirectory() === true) return [link];
    if (stats !== undefined) return stats.isFile() && stats.size < MAX_LINK_BYTES ? worktreeDirectories(link) : [];
    if (directory === dirname(directory)) return [];
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // If it is unreadable or has no parent directory, git cannot see it either.
    return undefined;
  }
}

function worktreeDirectories(link: string): string[] {
  try {
    const own = resolve(dirname(link), /^gitdir: (.*)$/m.exec(readFileSync(link, "utf8"))?.[1] ?? "");
    const worktrees = dirname(own);
    const repository = resolve(own, readFileSync(join(own, "commondir"), "utf8").trim());
    const known = resolve(own, readFileSync(join(own, "gitdir"), "utf8").trim());
    const isKnown =
      realPath(known) === realPath(link) && realPath(worktrees) === join(realPath(repository), "worktrees");
    return isKnown ? [repository, own] : [];
  } catch {
    // Not a worktree.
    return [];
  }
}
