import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preparedCli, testCli } from "../support/cli.ts";
import { terminal } from "./ask-terminal.ts";
import { COPY, jsonLines, sessionOf } from "./workspaces-sessions.ts";

/** A session that only looked, then one of two turns, each of which wrote a file. */
const twoTurns = preparedCli(async (open) => ({
  looked: await sessionOf(open(), ["hello"]),
  wrote: await sessionOf(open(), ["write a.txt with hi", "write b.txt with there"]),
}));

test("diff shows what changed in the last session, and the patch can be applied elsewhere", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  const session = await sessionOf(cli, ["write a.txt with hi, then run rm notes.txt"]);
  const summary = await cli.run(["diff"]);
  expect(summary).toEqual({
    code: 0,
    stdout: [
      `session ${session}, from the start to now`,
      "  added     +1  a.txt",
      "  deleted   -1  notes.txt",
      "2 files: 1 added, 1 deleted; +1 -1 lines\n",
    ].join("\n"),
    stderr: "",
  });
  expect(jsonLines((await cli.run(["diff", session, "--json"])).stdout)).toEqual([
    { path: "a.txt", kind: "added", insertions: 1, deletions: 0 },
    { path: "notes.txt", kind: "deleted", insertions: 0, deletions: 1 },
  ]);
  const { stdout } = await cli.run(["diff", session, "--patch"]);
  const other = join(cli.home, "other");
  mkdirSync(other);
  writeFileSync(join(other, "notes.txt"), "Buy milk.\n");
  execFileSync("git", ["apply", "-"], { cwd: other, input: stdout });
  expect(readFileSync(join(other, "a.txt"), "utf8")).toBe("hi");
});

test("diff --by-call shows the agent's changes step by step, and in place nobody else's", async () => {
  using cli = testCli();
  const session = await sessionOf(cli, ["write a.txt with hi, then run echo more > b.txt"]);
  writeFileSync(join(cli.cwd, "mine.txt"), "mine\n");
  const { stdout } = await cli.run(["diff", session, "--by-call"]);
  const lines = stdout.replaceAll(/checkpoint \w{8}/g, "checkpoint").split("\n");
  expect(lines.slice(1, 7)).toEqual([
    "Write a.txt  checkpoint",
    "  added     +1  a.txt",
    "",
    "Bash echo more > b.txt  checkpoint",
    "  added     +1  b.txt",
    "",
  ]);
  const steps = jsonLines((await cli.run(["diff", session, "--by-call", "--json"])).stdout);
  expect(steps).toMatchObject([
    { calls: [{ tool: "Write", subject: "a.txt" }], files: [{ path: "a.txt" }] },
    { calls: [{ tool: "Bash" }], files: [{ path: "b.txt" }] },
  ]);
});

test("diff goes from one moment to another: the last turn, or checkpoints as they are listed", async () => {
  using cli = await twoTurns();
  const session = cli.made.wrote;
  const last = await cli.run(["diff", session, "--since", "turn", "--json"]);
  expect(jsonLines(last.stdout)).toMatchObject([{ path: "b.txt" }]);
  const table = (await cli.run(["checkpoints", session])).stdout;
  const ids = [...table.matchAll(/^([\da-f]{8}) .*$/gm)].map(([, id = ""]) => id);
  expect(table).toMatch(/^[\da-f]{8} +(?:just now|\d+ (?:s|min) ago) +1 +start +before Write a\.txt$/m);
  expect(table).toMatch(/^[\da-f]{8} +(?:just now|\d+ (?:s|min) ago) +2 +\+1 +after Write b\.txt$/m);
  for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(jsonLines((await cli.run(["checkpoints", session, "--json"])).stdout)).toHaveLength(ids.length);
  const first = await cli.run(["diff", session, "--until", ids[1] ?? "", "--json"]);
  expect(jsonLines(first.stdout)).toMatchObject([{ path: "a.txt" }]);
  expect((await cli.run(["diff", session, "--since", ids.at(-1) ?? ""])).stdout).toContain("No files changed.");
});

test("diff shows the workspace of a session that has its own", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  const session = await sessionOf(cli, ["replace milk with bread in notes.txt"], COPY);
  expect((await cli.run(["diff", session])).stdout).toContain("  modified  +1 -1  notes.txt\n");
  expect(readFileSync(join(cli.cwd, "notes.txt"), "utf8")).toBe("Buy milk.\n");
});

test("a session that only looked has nothing to show, which is no error", async () => {
  using cli = await twoTurns();
  const session = cli.made.looked;
  const { code, stdout, stderr } = await cli.run(["diff", session]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("has no checkpoint");
  expect(await cli.run(["diff", session, "--json"])).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await cli.run(["diff", session, "--patch"])).toMatchObject({ code: 0, stdout: "" });
  expect((await cli.run(["checkpoints", session])).stdout).toContain("has no checkpoint");
});

test("names that would steer the terminal are written out, and a patch has colours on a terminal only", async () => {
  using cli = testCli();
  const session = await sessionOf(cli, [
    String.raw`run printf x > "$(printf 'a\nb\033[31m')"`,
    "write plain.txt with hi",
  ]);
  const { stdout } = await cli.run(["diff", session]);
  expect(stdout).toContain(String.raw`  added     +1  a\nb\u{1b}[31m`);
  expect((await cli.run(["diff", session, "--patch"])).stdout).not.toContain("\u001B");
  await using screen = terminal(cli, ["diff", session, "--patch", "--since", "turn"]);
  expect(await screen.end()).toBe(0);
  expect(screen.raw).toContain("\u001B[32m+hi\u001B[39m");
});

test("wrong use of diff is said in a sentence, with exit code 2", async () => {
  using empty = testCli();
  expect(await empty.run(["diff"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no sessions yet") as string,
  });
  using cli = await twoTurns();
  const session = cli.made.wrote;
  for (const [args, said] of [
    [["--patch", "--by-call"], "cannot be combined"],
    [["--patch", "--json"], "cannot be combined"],
    [["--since", "ffffffff"], "Checkpoint ffffffff was not found"],
    [["--until", "x"], "Checkpoint x was not found"],
  ] as const) {
    const { code, stdout, stderr } = await cli.run(["diff", session, ...args]);
    expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
  }
  expect((await cli.run(["diff", "ffffffff"])).stderr).toContain("No session ffffffff found");
});
