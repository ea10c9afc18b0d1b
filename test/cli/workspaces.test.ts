import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, preparedCli, testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { DOWN, ENTER, terminal } from "./ask-terminal.ts";
import { COPY, jsonLines, sessionOf } from "./workspaces-sessions.ts";

function workspacesIn(cli: Cli): string[] {
  const root = join(cli.home, ".capstan", "workspaces");
  return existsSync(root) ? readdirSync(root).map((id) => id.slice(-8)) : [];
}

/** As a host that died while it made a workspace leaves it. */
function leftover(cli: Cli, madeAt: number): string {
  const id = `sesn_${madeAt.toString(16).padStart(12, "0")}7000800000000000beef`;
  const directory = join(cli.home, ".capstan", "workspaces", id, "files");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "half.txt"), "half");
  return id.slice(-8);
}

const DAY = 86_400_000;

/** A session that wrote a file in the directory, one in a copy of it, and both; none of it was exported. */
const inPlace = preparedCli((open) => sessionOf(open(), ["write a.txt with hi"]));
const inCopy = preparedCli((open) => sessionOf(open(), ["write a.txt with hi"], COPY));
const inBoth = preparedCli(async (open) => ({
  copy: await sessionOf(open(), ["write a.txt with hi"], COPY),
  place: await sessionOf(open(), ["write b.txt with hi"]),
}));
const inTwoCopies = preparedCli(async (open) => ({
  one: await sessionOf(open(), ["write a.txt with hi"], COPY),
  two: await sessionOf(open(), ["write b.txt with hi"], COPY),
}));

test("workspaces are listed with size, age, source and what was not exported, and a total", async () => {
  using empty = testCli();
  expect(await empty.run(["workspaces"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("No workspaces") as string,
  });
  using cli = await inBoth();
  const { copy, place } = cli.made;
  const left = leftover(cli, Date.now() - DAY);
  const { stdout } = await cli.run(["workspaces", "list"]);
  expect(stdout).toMatch(new RegExp(`^${copy} +copy +[\\d.]+ kB +(?:just now|\\d+ (?:s|min) ago) +unexported +/`, "m"));
  expect(stdout).toMatch(new RegExp(`^${place} +in-place +[\\d.]+ kB +(?:just now|\\d+ (?:s|min) ago) +/`, "m"));
  expect(stdout).toMatch(
    new RegExp(`^${left} +leftover +[\\d.]+ kB +1 d ago +unexported +no session in this store$`, "m"),
  );
  expect(stdout).toMatch(/^3 workspaces, [\d.]+ [kM]B on disk$/m);
  expect(stdout).toContain(`Show unexported changes: capstan diff ${copy}\n`);
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const lines = jsonLines((await cli.run(["workspaces", "list", "--json"])).stdout);
  expect(lines).toContainEqual(expect.objectContaining({ kind: "copy", source: cli.cwd, hasUnexportedChanges: true }));
});

test("without a name or a limit only what belongs to no session is cleaned, unless it is just being made", async () => {
  using cli = await inPlace();
  const session = cli.made;
  const young = leftover(cli, Date.now());
  expect((await cli.run(["workspaces", "clean", "--yes"])).stdout).toBe("Nothing to remove.\n");
  const old = leftover(cli, Date.now() - DAY + 1);
  // The store may be an older one, and the files somebody's work.
  const unsure = await cli.run(["workspaces", "clean", "--yes"]);
  expect(unsure).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("its session is not in this store") as string,
  });
  expect(workspacesIn(cli)).toContain(old);
  const { stdout, code } = await cli.run(["workspaces", "clean", "--yes", "--discard-changes"]);
  expect(code).toBe(0);
  expect(stdout).toContain(old);
  expect(stdout).toContain("Removed 1 workspace, ");
  expect(workspacesIn(cli).toSorted()).toEqual([session, young].toSorted());
});

test("in a pipe nothing goes without --yes, and what works in place keeps its files", async () => {
  using cli = await inPlace();
  const session = cli.made;
  for (const [flags, expected] of [
    [[], 5],
    [["--dry-run"], 0],
    [["--dry-run", "--yes"], 0],
  ] as const) {
    const { code, stdout, stderr } = await cli.run(["workspaces", "clean", session, ...flags]);
    expect(code).toBe(expected);
    expect(stdout).toContain("lose only their checkpoints");
    expect(stderr).toContain(expected === 0 ? "Nothing was removed.\n" : "To remove the listed items, add --yes.\n");
  }
  const unsure = await cli.run(["workspaces", "clean", session, "--json"]);
  expect(unsure).toMatchObject({ code: 5, stderr: expect.stringContaining("add --yes") as string });
  expect(jsonLines(unsure.stdout)).toMatchObject([{ removed: false }]);
  expect(workspacesIn(cli)).toEqual([session]);
  const json = await cli.run(["workspaces", "clean", "--larger-than", "1kB", "--older-than", "1ms", "--yes", "--json"]);
  expect(jsonLines(json.stdout)).toMatchObject([{ kind: "in-place", removed: true }]);
  expect(workspacesIn(cli)).toEqual([]);
  expect(readFileSync(join(cli.cwd, "a.txt"), "utf8")).toBe("hi");
});

test("limits choose: what is younger or smaller stays", async () => {
  using cli = await inPlace();
  for (const limit of [
    ["--older-than", "1d"],
    ["--larger-than", "1GB"],
    ["--older-than", "1ms", "--larger-than", "1GiB"],
  ])
    expect((await cli.run(["workspaces", "clean", "--yes", ...limit])).stdout).toBe("Nothing to remove.\n");
});

test("changes that were not exported stay in a pipe, with exit code 1, unless they may be lost", async () => {
  using cli = await inTwoCopies();
  const { one: kept, two: taken } = cli.made;
  await cli.run(["export", taken, "--zip", "b.zip"]);
  const { code, stdout, stderr } = await cli.run(["workspaces", "clean", "--older-than", "1ms", "--yes"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Workspace of session ${kept} not removed`);
  expect(stdout).toContain("Removed 1 workspace, ");
  expect(workspacesIn(cli)).toEqual([kept]);
  const json = await cli.run(["workspaces", "clean", kept, "--yes", "--json"]);
  expect(json).toMatchObject({ code: 1, stderr: "" });
  expect(jsonLines(json.stdout)).toMatchObject([{ removed: false, error: expect.any(String) as string }]);
  expect((await cli.run(["workspaces", "clean", kept, "--yes", "--discard-changes"])).code).toBe(0);
  expect(workspacesIn(cli)).toEqual([]);
  expect((await cli.run(["sessions", "show", kept])).code).toBe(0);
});

test("on a terminal it asks, and about unexported changes by themselves", async () => {
  using cli = await inCopy();
  const session = cli.made;
  {
    await using screen = terminal(cli, ["workspaces", "clean", session]);
    await screen.sees("Remove 1 workspace?");
    screen.type(ENTER);
    expect(await screen.end()).toBe(0);
    expect(screen.text).toContain("Nothing was removed.");
  }
  {
    await using screen = terminal(cli, ["workspaces", "clean", session]);
    await screen.sees("Remove 1 workspace?");
    screen.type(DOWN + ENTER);
    await screen.sees("has unexported changes");
    screen.type(ENTER);
    expect(await screen.end()).toBe(1);
  }
  expect(workspacesIn(cli)).toEqual([session]);
  await using screen = terminal(cli, ["workspaces", "clean", session, "--yes"]);
  await screen.sees("has unexported changes");
  screen.type(DOWN + ENTER);
  expect(await screen.end()).toBe(0);
  expect(workspacesIn(cli)).toEqual([]);
});

test("a session that works just now is told of, and the others go", async () => {
  await using model = await scriptedModel(() => say("word ".repeat(600), { pace: 10 }));
  using cli = await inBoth(model.url);
  const { copy: busy } = cli.made;
  const child = cli.start(["run", "-r", busy, "talk"]);
  await new Promise((seen) => child.stdout.once("data", seen));
  const { code, stdout, stderr } = await cli.run(["workspaces", "clean", "--older-than", "1ms", "--yes"]);
  child.kill("SIGINT");
  await new Promise((done) => child.once("exit", done));
  expect(code).toBe(3);
  expect(stderr).toContain(busy);
  expect(stdout).toContain("Removed 1 workspace, ");
  expect(workspacesIn(cli)).toEqual([busy]);
});

test("a session that begins to work while it is asked about is told of, and the others go", async () => {
  await using model = await scriptedModel(() => say("word ".repeat(600), { pace: 10 }));
  using cli = await inTwoCopies(model.url);
  const { one: first, two: busy } = cli.made;
  await using screen = terminal(cli, ["workspaces", "clean", busy, first, "--yes"]);
  await screen.sees(`Session ${busy} has unexported changes`);
  const child = cli.start(["run", "-r", busy, "talk"]);
  await new Promise((seen) => child.stdout.once("data", seen));
  screen.type(DOWN + ENTER);
  await screen.sees(`Session ${first} has unexported changes`);
  screen.type(DOWN + ENTER);
  const code = await screen.end();
  child.kill("SIGINT");
  await new Promise((done) => child.once("exit", done));
  expect(code).toBe(3);
  expect(screen.text).toContain("Removed 1 workspace, ");
  expect(workspacesIn(cli)).toEqual([busy]);
});

test("the settings that docs/workspaces.md shows are valid", async () => {
  using cli = testCli();
  const [, yaml = ""] = /^```yaml settings\n([\s\S]*?)^```$/m.exec(readFileSync("docs/workspaces.md", "utf8")) ?? [];
  mkdirSync(join(cli.home, ".capstan"));
  writeFileSync(join(cli.home, ".capstan", "config.yaml"), yaml);
  const { code, stdout } = await cli.run(["config", "show"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^environment\.workspace\.kind +user .*copy$/m);
});

test("wrong use of clean is said in a sentence, with exit code 2", async () => {
  using cli = await inPlace();
  const session = cli.made;
  for (const [args, said] of [
    [["--larger-than", "500"], '"500" is not a size'],
    [["--larger-than", "5 parsecs"], "is not a size"],
    [["--older-than", "soon"], "is not a duration"],
    [["ffffffff"], "No workspace ffffffff found"],
    [["ff"], "too short"],
  ] as const) {
    const { code, stderr } = await cli.run(["workspaces", "clean", "--yes", ...args]);
    expect(code, args.join(" ")).toBe(2);
    expect(stderr).toContain(said);
  }
  expect(workspacesIn(cli)).toEqual([session]);
});
