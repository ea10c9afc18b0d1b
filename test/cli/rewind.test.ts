import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preparedCli, testCli } from "../support/cli.ts";
import { COPY, jsonLines, sessionOf } from "./workspaces-sessions.ts";

/** A session of two turns, each of which wrote a file. */
const twoTurns = preparedCli((open) => sessionOf(open(), ["write a.txt with hi", "write b.txt with there"]));

test("a dry run changes nothing, a rewind brings the files back, and its undo brings back what was there", async () => {
  using cli = testCli();
  const notes = join(cli.cwd, "notes.txt");
  writeFileSync(notes, "Buy milk.\n");
  const session = await sessionOf(cli, ["write a.txt with hi, then run rm notes.txt"]);
  writeFileSync(join(cli.cwd, "mine.txt"), "mine\n");
  const dry = await cli.run(["rewind", session, "--to", "start", "--dry-run"]);
  expect(dry.stdout).toContain("  deleted   -1  a.txt\n  added     +1  notes.txt\n");
  expect(dry.stdout).toContain("Nothing was changed.\n");
  expect(existsSync(notes)).toBe(false);
  const patch = await cli.run(["rewind", session, "--to", "start", "--dry-run", "--patch"]);
  expect(patch.stdout).toContain("\n-Buy milk.\n");
  expect(patch.stdout).not.toContain("mine");
  expect(patch.stderr).toBe("These changes would be undone:\n");

  const done = await cli.run(["rewind", session, "--to", "start"]);
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain(`To undo: capstan rewind ${session} --undo\n`);
  expect(readFileSync(notes, "utf8")).toBe("Buy milk.\n");
  expect(["a.txt", "mine.txt"].filter((name) => existsSync(join(cli.cwd, name)))).toEqual(["mine.txt"]);

  const undone = await cli.run(["rewind", session, "--undo"]);
  expect(undone.stdout).toContain("Rewind undone: session ");
  expect(existsSync(notes)).toBe(false);
  expect(readFileSync(join(cli.cwd, "mine.txt"), "utf8")).toBe("mine\n");
});

test("the conversation goes back too when that is asked for", async () => {
  using cli = await twoTurns();
  const session = cli.made;
  const { stdout } = await cli.run(["rewind", session, "--to", "turn", "--conversation", "--json"]);
  const undoCheckpointId = expect.stringMatching(/^ckpt_/) as string;
  expect(jsonLines(stdout)).toMatchObject([
    { conversation: true, dryRun: false, files: [{ path: "b.txt", kind: "deleted" }], undoCheckpointId },
  ]);
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(true);
  expect(existsSync(join(cli.cwd, "b.txt"))).toBe(false);
  const events = jsonLines((await cli.run(["sessions", "show", session, "--json"])).stdout);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "capstan.rewound", to_seq: expect.any(Number) as number }),
  );
  const undone = jsonLines((await cli.run(["rewind", session, "--undo", "--json"])).stdout);
  expect(undone).toMatchObject([{ conversation: true, files: [{ path: "b.txt", kind: "added" }] }]);
  // The undo of the undo: what was said since the first place is gone once more.
  await cli.run(["rewind", session, "--to", "start", "--conversation"]);
  const told = (await cli.run(["rewind", session, "--undo"])).stdout;
  expect(told).toContain("The conversation is restored to what it was before the rewind.\n");
  await cli.run(["rewind", session, "--to", "start"]);
  expect((await cli.run(["rewind", session, "--undo"])).stdout).not.toContain("conversation");
  expect(jsonLines((await cli.run(["rewind", session, "--undo", "--json"])).stdout)).toMatchObject([
    { conversation: false },
  ]);
});

test("a workspace of its own is rewound, and what it came from stays", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  const session = await sessionOf(cli, ["replace milk with bread in notes.txt"], COPY);
  const { stdout } = await cli.run(["rewind", session, "--to", "start"]);
  expect(stdout).toContain("  modified  +1 -1  notes.txt\n");
  expect((await cli.run(["diff", session])).stdout).toContain("No files changed.");
  expect(readFileSync(join(cli.cwd, "notes.txt"), "utf8")).toBe("Buy milk.\n");
});

test("wrong use of rewind changes nothing", async () => {
  using cli = await twoTurns();
  const session = cli.made;
  for (const [args, said] of [
    [[], "Choose a target"],
    [["--to", "start", "--undo"], "Choose a target"],
    [["--undo", "--dry-run"], "--dry-run requires --to"],
    [["--undo", "--conversation"], "--conversation"],
    [["--to", "start", "--patch"], "--patch requires --dry-run"],
    [["--to", "start", "--dry-run", "--patch", "--json"], "cannot be combined"],
    [["--to", "ffffffff"], "Checkpoint ffffffff was not found"],
    [["--undo"], "have not been rewound"],
  ] as const) {
    const { code, stdout, stderr } = await cli.run(["rewind", session, ...args]);
    expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
  }
  for (const name of ["a.txt", "b.txt"]) expect(existsSync(join(cli.cwd, name))).toBe(true);
  expect((await cli.run(["rewind"])).code).toBe(2);
});

test("files that someone else has changed since are named, and rewound only with --overwrite", async () => {
  using cli = await twoTurns();
  writeFileSync(join(cli.cwd, "a.txt"), "mine\n");
  const dry = await cli.run(["rewind", cli.made, "--to", "start", "--dry-run"]);
  expect(dry.stdout).toContain("changed by someone else since: a.txt\n");
  const stopped = await cli.run(["rewind", cli.made, "--to", "start"]);
  expect(stopped).toMatchObject({ code: 1, stdout: "" });
  expect(stopped.stderr).toContain("a.txt");
  expect(stopped.stderr).toContain("--overwrite");
  expect(existsSync(join(cli.cwd, "b.txt"))).toBe(true);
  expect((await cli.run(["rewind", cli.made, "--to", "start", "--overwrite"])).code).toBe(0);
  expect(["a.txt", "b.txt"].filter((name) => existsSync(join(cli.cwd, name)))).toEqual([]);
});

test("a session that waits for an answer is not rewound under its feet", async () => {
  using cli = testCli();
  const run = ["run", "--rehearsal", "--mode", "accept-edits", "write a.txt with hi, then run rm a.txt"];
  expect((await cli.run(run)).code).toBe(5);
  const [{ id = "" } = {}] = jsonLines((await cli.run(["sessions", "list", "--json"])).stdout) as { id?: string }[];
  const { code, stderr } = await cli.run(["rewind", id, "--to", "start"]);
  expect(code).toBe(5);
  expect(stderr).toContain("is waiting for an answer");
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(true);
});
