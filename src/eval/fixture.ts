import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readlink, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { CapstanError } from "../core/errors.ts";
import { isInside } from "../core/paths/is-inside.ts";
import type { Case } from "../core/suite/suite.ts";
import { findProgram, hostPath, safePath } from "../process/programs.ts";

/** Fills a trial's empty directory with the case's files. Writes nowhere else. */
export async function prepareFixture(directory: string, { fixture, files, git }: Case): Promise<void> {
  const root = await realpath(directory);
  if (fixture !== undefined) {
    // Links are copied without following them, so that they can be checked before anything is written through them.
    await cp(fixture, root, { recursive: true, verbatimSymlinks: true });
    await refuseWaysOut(root, fixture);
  }
  for (const [path, content] of Object.entries(files)) {
    const target = await realDirectoryOf(join(root, path));
    if (!isInside(target, root))
      throw new CapstanError(
        "invalid_suite",
        `The case's file ${path} would be written outside the workspace, to ${target}. Use a path inside it.`,
      );
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  if (git) await commitAll(directory);
}

/** A link out of the fixture would let a trial change other files. */
async function refuseWaysOut(root: string, fixture: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const link = join(entry.parentPath, entry.name);
    const [target, place] = [await readlink(link), await realDirectoryOf(link)];
    if (isInside(place, root)) continue;
    throw new CapstanError(
      "invalid_suite",
      `The fixture ${fixture} has a link to a path outside of it: ${relative(root, link)} -> ${target}${place === target ? "" : `, which is ${place} in a trial`}. Put a copy of the target into the fixture.`,
    );
  }
}

/** The limit of all systems. */
const MAX_LINKS = 40;

/**
 * Resolves a path step by step, like the system: `..` after a link is the parent of its target, which the text of the
 * path does not show. A missing path counts as the directory or file it would become.
 */
async function realDirectoryOf(path: string): Promise<string> {
  let place: string = sep;
  let followed = 0;
  const steps = path.split(sep);
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = join(place, step);
    const target = step === ".." || followed === MAX_LINKS ? undefined : await readlink(next).catch(() => undefined);
    if (target === undefined) place = next;
    else {
      followed += 1;
      steps.unshift(...target.split(sep));
      if (isAbsolute(target)) place = sep;
    }
  }
  return place;
}

/** Produces the same commit on every machine and day. */
const GIT_ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Fixture",
  GIT_AUTHOR_EMAIL: "fixture@example.com",
  GIT_COMMITTER_NAME: "Fixture",
  GIT_COMMITTER_EMAIL: "fixture@example.com",
  GIT_AUTHOR_DATE: "2020-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2020-01-01T00:00:00Z",
};

async function commitAll(directory: string): Promise<void> {
  const env = { PATH: safePath(hostPath()), HOME: directory, ...GIT_ENVIRONMENT };
  const program = findProgram("git");
  if (program === undefined)
    throw new CapstanError("workspace_failed", "git was not found. Install git, or put it on the PATH.");
  const git = async (...args: readonly string[]): Promise<void> =>
    void (await promisify(execFile)(program, args, { cwd: directory, env }));
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "--message=The fixture");
}
