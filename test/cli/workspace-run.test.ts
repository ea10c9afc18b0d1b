import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, type CliResult, collect, exitOf, testCli } from "../support/cli.ts";
import { sessionOf } from "./workspaces-sessions.ts";
import { recordTrust } from "../support/trust.ts";

const WORK = ["run", "--rehearsal", "--mode", "yolo"];

function idIn({ stdout }: CliResult): string {
  return /session ([0-9a-f]{8})\n$/.exec(stdout)?.[1] ?? "?";
}

function put(cli: Cli, name: string, text: string): void {
  writeFileSync(join(cli.cwd, name), text);
}

function read(cli: Cli, name: string): string {
  return readFileSync(join(cli.cwd, name), "utf8");
}

/** Makes the directory a repository with one commit of all that is in it. */
function commit(cli: Cli): void {
  const env = { ...cli.environment, GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=kim", "-c", "user.email=kim@example.com", ...args], { cwd: cli.cwd, env });
  };
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "all");
}

test("a run tells how many files it changed and how to see and undo that; one that changes nothing does not", async () => {
  using cli = testCli();
  put(cli, "a.txt", "one\n");
  const first = await cli.run([...WORK, "write b.txt with hi, then run echo two >> a.txt"]);
  expect(first.stderr).toBe("");
  const id = idIn(first);
  expect(first.stdout).toContain(`\n\n2 files changed · capstan diff ${id} · capstan rewind ${id} --to turn\n$`);
  expect((await cli.run([...WORK, "-c", "read a.txt"])).stdout).not.toContain("changed");
  // What others did meanwhile is not the run's doing.
  put(cli, "a.txt", "of a person\n");
  const third = await cli.run([...WORK, "-c", "write c.txt with hi"]);
  expect(third.stdout).toMatch(/^1 file changed · /m);
  expect((await cli.run(["rewind", id, "--to", "turn"])).code).toBe(0);
  expect(existsSync(join(cli.cwd, "c.txt"))).toBe(false);
  expect(read(cli, "a.txt")).toBe("of a person\n");
});

test("--json prints events alone", async () => {
  using cli = testCli();
  const { stdout, stderr } = await cli.run([...WORK, "--json", "write b.txt with hi"]);
  expect(stderr).toBe("");
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(events.filter(({ type }) => type === "capstan.checkpoint_taken")).toHaveLength(2);
});

test("--workspace copy leaves the directory alone until its changes are applied, and goes on from anywhere", async () => {
  using cli = testCli();
  put(cli, "a.txt", "one\n");
  put(cli, ".gitignore", "secret.txt\n");
  put(cli, "secret.txt", "of a person\n");
  const first = await cli.run([
    ...WORK,
    "--workspace",
    "copy",
    "run ls -A, then read a.txt, then write a.txt with two",
  ]);
  const id = idIn(first);
  expect(first.stdout).toContain(".gitignore\na.txt\n");
  expect(first.stdout).not.toContain("secret.txt");
  expect(first.stdout).toContain(`\n1 file changed · capstan diff ${id} · capstan apply ${id}\n`);
  const second = await cli.run([...WORK, "--resume", id, "run cat a.txt, then write b.txt with three"], {
    cwd: cli.home,
  });
  expect(second.stderr).toBe("");
  expect(second.stdout).toContain("two");
  const forked = await cli.run([...WORK, "--fork", id, "write b.txt with four"], { cwd: cli.home });
  expect(forked.code).toBe(0);
  expect([read(cli, "a.txt"), existsSync(join(cli.cwd, "b.txt"))]).toEqual(["one\n", false]);
  expect((await cli.run(["apply", id])).code).toBe(0);
  expect([read(cli, "a.txt"), read(cli, "b.txt")]).toEqual([
    expect.stringContaining("two"),
    expect.stringContaining("three"),
  ]);
  const elsewhere = await cli.run([...WORK, "--resume", id, "-C", cli.home, "hello"]);
  expect(elsewhere.code).toBe(2);
  expect(elsewhere.stderr).toContain("has a workspace of its own");
});

test.each(["worktree", "clone"])(
  "--workspace %s works on a repository of its own, and is told what stayed behind",
  async (kind) => {
    using cli = testCli();
    put(cli, "a.txt", "one\n");
    commit(cli);
    put(cli, "new.txt", "not committed\n");
    const { stdout, stderr, code } = await cli.run([
      ...WORK,
      "--workspace",
      kind,
      "run ls, then read a.txt, then write a.txt with two",
    ]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("new.txt");
    expect(stdout).toMatch(/^1 file changed · .*capstan apply/m);
    expect(read(cli, "a.txt")).toBe("one\n");
    if (kind === "worktree") expect(stderr).toMatch(/^capstan: 1 uncommitted file in .* is not in the workspace\.\n$/);
    expect((await cli.run([...WORK, "-c", "run cat a.txt"])).stdout).toContain("two");
  },
);

test.each([["-c"], ["--fork", "0123abcd"]])("a session that goes on keeps its place: %s", async (...goOn) => {
  using cli = testCli();
  const { code, stderr } = await cli.run([...WORK, ...goOn, "--workspace", "copy", "--sandbox", "off", "hello"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--workspace, --sandbox cannot be changed in an existing session");
});

test.each([
  ["--workspace", "cloud", "in-place, copy, worktree, clone"],
  ["--sandbox", "on", "off, preferred, required"],
])("%s %s is refused with what there is", async (flag, value, known) => {
  using cli = testCli();
  const { code, stderr } = await cli.run([...WORK, flag, value, "hello"]);
  expect(code).toBe(2);
  expect(stderr).toContain(known);
});

test("settings say where sessions work, and the user's own what else may be copied there", async () => {
  using cli = testCli();
  const shared = join(cli.home, "shared");
  mkdirSync(shared);
  writeFileSync(join(shared, "lib.txt"), "shared words\n");
  mkdirSync(join(cli.cwd, ".capstan"));
  put(
    cli,
    ".capstan/config.yaml",
    `environment:
  workspace: { kind: copy, mounts: [{ source: ${shared}, target: lib, read_only: true }] }
`,
  );
  await recordTrust(cli);
  const refused = await cli.run([...WORK, "run cat lib/lib.txt"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(shared);
  mkdirSync(join(cli.home, ".capstan"), { recursive: true });
  writeFileSync(join(cli.home, ".capstan", "config.yaml"), "mount_roots: [~/shared]\n");
  expect((await cli.run([...WORK, "run cat lib/lib.txt"])).stdout).toContain("shared words");
  expect((await cli.run([...WORK, "--workspace", "in-place", "run ls"])).stdout).not.toContain("lib");
});

test("a run that waits for another session's turn in the directory says so", async () => {
  using cli = testCli();
  const child = cli.start([...WORK, "run touch begun; while ! test -e done; do sleep 0.1; done"]);
  const output = collect(child.stdout);
  await expect.poll(() => existsSync(join(cli.cwd, "begun")), { timeout: 20_000 }).toBe(true);
  const other = cli.start([...WORK, "write b.txt with hi"]);
  const told = collect(other.stderr);
  await expect
    .poll(() => told.text, { timeout: 20_000 })
    .toMatch(/^capstan: Waiting for session [0-9a-f]{8}, which is working in this directory\.\n$/);
  expect(existsSync(join(cli.cwd, "b.txt"))).toBe(false);
  put(cli, "done", "");
  expect([await exitOf(child), await exitOf(other)]).toEqual([0, 0]);
  expect(told.text).toContain(/session ([0-9a-f]{8})\n$/.exec(output.text)?.[1]);
  expect(read(cli, "b.txt")).toContain("hi");
});

test("a rewind is told to whoever goes on with the session", async () => {
  using cli = testCli();
  const id = await sessionOf(cli, ["write a.txt with hi"]);
  await cli.run(["rewind", id, "--to", "start"]);
  const { stderr } = await cli.run([...WORK, "--resume", id, "hello"]);
  expect(stderr).toMatch(/^capstan: The files were rewound to checkpoint [0-9a-f]{8}\.\n$/);
  expect((await cli.run([...WORK, "--resume", id, "hello again"])).stderr).toBe("");
  expect((await cli.run(["sessions", "show", id])).stdout).toMatch(/^! The files were rewound to checkpoint/m);
});
