import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preparedCli, testCli } from "../support/cli.ts";
import { COPY, jsonLines, sessionOf } from "./workspaces-sessions.ts";

/** A session that made one file and changed another, in a copy of the directory. */
const changed = preparedCli((open) => {
  const cli = open();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  return sessionOf(cli, ["write a.txt with hi, then replace milk with bread in notes.txt"], COPY);
});

test("apply writes what changed back to where the files came from, after a dry run that writes nothing", async () => {
  using cli = await changed();
  const session = cli.made;
  const notes = join(cli.cwd, "notes.txt");
  const dry = await cli.run(["apply", session, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toContain(`  written  ${join(cli.cwd, "a.txt")}\n  written  ${notes}\n`);
  expect(dry.stdout).toContain("2 files would be changed, without conflicts. Nothing was written.\n");
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(false);

  expect((await cli.run(["apply", session])).stdout).toContain("2 files changed.\n");
  expect(readFileSync(notes, "utf8")).toBe("Buy bread.\n");
  expect(readFileSync(join(cli.cwd, "a.txt"), "utf8")).toBe("hi");

  const again = await cli.run(["apply", session, "--json"]);
  expect(jsonLines(again.stdout)).toMatchObject([
    { type: "change", path: join(cli.cwd, "a.txt"), how: "already" },
    { type: "change", path: notes, how: "already" },
  ]);
  expect((await cli.run(["apply", session])).stdout).toContain("has no changes to apply");
});

test("with a conflict nothing is written, each one is named, and the exit code is 1", async () => {
  using cli = await changed();
  const session = cli.made;
  const notes = join(cli.cwd, "notes.txt");
  writeFileSync(notes, "Buy cheese.\n");
  for (const flags of [[], ["--dry-run"]]) {
    const { code, stdout, stderr } = await cli.run(["apply", session, ...flags]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("conflict  notes.txt: ");
    expect(stderr).toContain("capstan: 1 file cannot be applied, so nothing was written.");
    expect(stderr).toContain(`capstan export ${session} --patch FILE`);
  }
  const json = await cli.run(["apply", session, "--json"]);
  expect(json).toMatchObject({ code: 1, stderr: "" });
  expect(jsonLines(json.stdout)).toContainEqual(expect.objectContaining({ type: "conflict", path: "notes.txt" }));
  expect(readFileSync(notes, "utf8")).toBe("Buy cheese.\n");
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(false);
});

test("there is nothing to apply of a session that works in place, or that changed nothing", async () => {
  using cli = testCli();
  const inPlace = await sessionOf(cli, ["write a.txt with hi"]);
  const { code, stderr } = await cli.run(["apply", inPlace]);
  expect(code).toBe(2);
  expect(stderr).toContain("in place");
  const idle = await sessionOf(cli, ["hello"], COPY);
  expect(await cli.run(["apply", idle])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nothing to export") as string,
  });
  expect((await cli.run(["apply"])).code).toBe(2);
});
