import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, preparedCli, testCli } from "../support/cli.ts";
import { COPY, jsonLines, sessionOf } from "./workspaces-sessions.ts";

function git(cli: Cli, ...args: string[]): string {
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  return execFileSync("git", [...who, ...args], { cwd: cli.cwd, encoding: "utf8", env: cli.environment });
}

/** One session that changed nothing, then one that wrote a file in the directory. */
const inPlace = preparedCli(async (open) => ({
  idle: await sessionOf(open(), ["hello"]),
  session: await sessionOf(open(), ["write a.txt with hi"]),
}));
/** One that wrote a file in a copy of the directory. */
const inCopy = preparedCli((open) => {
  const cli = open();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  return sessionOf(cli, ["write a.txt with hi"], COPY);
});

test("a patch goes to a new file of the owner's, or to standard output, and never holds itself", async () => {
  using cli = await inPlace();
  const { session } = cli.made;
  const { stdout, code } = await cli.run(["export", session, "--patch", "changes.patch"]);
  expect({ stdout, code }).toEqual({
    code: 0,
    stdout: `Changes of session ${session} written to changes.patch. To apply them: git apply changes.patch\n`,
  });
  const file = join(cli.cwd, "changes.patch");
  const patch = readFileSync(file, "utf8");
  expect(patch).toContain("+++ b/a.txt\n");
  expect(patch).not.toContain("changes.patch");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const piped = await cli.run(["export", "--patch", "-"]);
  expect(piped).toMatchObject({ code: 0, stderr: "" });
  expect(piped.stdout).toContain("+++ b/a.txt\n");
});

test("a file that is there is never overwritten, and nothing counts as exported that could not be written", async () => {
  using cli = await inCopy();
  const session = cli.made;
  writeFileSync(join(cli.cwd, "mine"), "mine");
  for (const way of ["--patch", "--zip"]) {
    expect(await cli.run(["export", session, way, "mine"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "capstan: mine already exists. Choose another name, or remove it.\n",
    });
    expect((await cli.run(["export", session, way, "no/such/directory/file"])).code).toBeGreaterThan(1);
  }
  expect(readFileSync(join(cli.cwd, "mine"), "utf8")).toBe("mine");
  expect(jsonLines((await cli.run(["workspaces", "list", "--json"])).stdout)).toMatchObject([
    { hasUnexportedChanges: true },
  ]);
  await cli.run(["export", session, "--patch", "changes.patch"]);
  expect(jsonLines((await cli.run(["workspaces", "list", "--json"])).stdout)).toMatchObject([
    { hasUnexportedChanges: false },
  ]);
});

test("a zip file holds all files as they are", async () => {
  using cli = await inCopy();
  const session = cli.made;
  const { stdout } = await cli.run(["export", session, "--zip", "files.zip", "--json"]);
  const file = join(cli.cwd, "files.zip");
  expect(jsonLines(stdout)).toMatchObject([{ how: "zip", file }]);
  const zip = readFileSync(file, "latin1");
  expect(zip.startsWith("PK")).toBe(true);
  for (const name of ["notes.txt", "a.txt"]) expect(zip).toContain(name);
});

test("a branch gets the changes, and what is checked out stays as it is", async () => {
  using cli = testCli();
  git(cli, "init", "--quiet", "--initial-branch", "main");
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  git(cli, "add", ".");
  git(cli, "commit", "--quiet", "-m", "first");
  const session = await sessionOf(cli, ["write a.txt with hi"], { kind: "worktree" });
  const { code, stdout } = await cli.run(["export", session, "--branch", "from-agent"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Changes of session ${session} committed to branch from-agent of ${cli.cwd}.\n`);
  expect(git(cli, "show", "--stat", "--format=", "from-agent")).toContain("a.txt");
  expect(git(cli, "status", "--porcelain")).toBe("");
  expect(git(cli, "branch", "--show-current")).toBe("main\n");
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(false);
  const [made] = jsonLines((await cli.run(["export", session, "--branch", "--json"])).stdout);
  expect(made).toMatchObject({
    how: "branch",
    repository: join(cli.cwd, ".git"),
    branch: expect.stringContaining(session) as string,
  });
});

test("what git ignores is not on the branch, which is said, and still counts as not exported", async () => {
  using cli = testCli();
  git(cli, "init", "--quiet", "--initial-branch", "main");
  writeFileSync(join(cli.cwd, ".gitignore"), "*.log\n");
  git(cli, "add", ".");
  git(cli, "commit", "--quiet", "-m", "first");
  const session = await sessionOf(cli, ["write a.log with hi"], { kind: "worktree" });
  const nothing = await cli.run(["export", session, "--branch"]);
  expect(nothing).toMatchObject({ code: 2, stdout: "" });
  expect(nothing.stderr).toMatch(/Nothing to export.*a\.log/);
  const more = await sessionOf(cli, ["write a.log with hi, then write a.txt with hi"], { kind: "worktree" });
  const { stdout } = await cli.run(["export", more, "--branch"]);
  expect(stdout).toContain("to a submodule: a.log.\nTo export them too,");
  expect(jsonLines((await cli.run(["export", more, "--branch", "--json"])).stdout)).toMatchObject([
    { skipped: ["a.log"] },
  ]);
  expect((await cli.run(["sessions", "delete", more])).code).toBe(1);
});

test("export wants one way, and tells itself from sessions export", async () => {
  using cli = await inPlace();
  const { session, idle } = cli.made;
  for (const args of [[], ["--patch", "-", "--zip", "x.zip"], ["--patch", "-", "--json"]]) {
    const { code, stdout } = await cli.run(["export", session, ...args]);
    expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
  }
  expect((await cli.run(["export", "--help"])).stdout.replaceAll(/\s+/g, " ")).toContain(
    "for its log use `sessions export`",
  );
  expect((await cli.run(["export", idle, "--patch", "x.patch"])).stderr).toContain("nothing to export");
  expect(existsSync(join(cli.cwd, "x.patch"))).toBe(false);
});
