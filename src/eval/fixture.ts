import { execFile } from "node:child_process";
import { cp, mkdir, readlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { CapstanError } from "../core/errors.ts";
import type { Case } from "../core/suite.ts";

/** Fills the empty directory of a trial with what the case says. */
export async function prepareFixture(directory: string, { fixture, files, git }: Case): Promise<void> {
  if (fixture !== undefined)
    await cp(fixture, directory, {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (source) => {
        await refuseWayOut(source, fixture);
        return true;
      },
    });
  for (const [path, content] of Object.entries(files)) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  if (git) await commitAll(directory);
}

/** A link that leads out would let a trial change what it must not touch. */
async function refuseWayOut(source: string, fixture: string): Promise<void> {
  const target = await readlink(source).catch(() => undefined);
  if (target === undefined) return;
  const leads = relative(fixture, resolve(dirname(source), target));
  if (leads === ".." || leads.startsWith(`..${sep}`) || resolve(target) === target)
    throw new CapstanError(
      "invalid_suite",
      `The fixture ${fixture} has a link that leads out of it: ${relative(fixture, source)} -> ${target}. Put a copy of what it names into the fixture.`,
    );
}

/** The same commit on every machine and every day. */
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
  const env = { PATH: process.env["PATH"], HOME: directory, ...GIT_ENVIRONMENT };
  const git = async (...args: readonly string[]): Promise<void> =>
    void (await promisify(execFile)("git", args, { cwd: directory, env }));
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "--message=The fixture");
}
