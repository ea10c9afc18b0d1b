import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { problemWithCommand } from "../../src/mcp/command.ts";

const directory = mkdtempSync(join(tmpdir(), "capstan-programs-"));
afterAll(() => rmSync(directory, { recursive: true }));
writeFileSync(join(directory, "plain"), "");
writeFileSync(join(directory, "server"), "#!/bin/sh\n");
chmodSync(join(directory, "server"), 0o755);
const plain = join(directory, "plain");

test.each([
  ["found in PATH", "server", `/nowhere:${directory}`, undefined],
  ["named by its path", join(directory, "server"), "", undefined],
  ["nowhere in PATH", "server", "/nowhere:/none", "server was not found in PATH (/nowhere:/none)"],
  ["not at its path", "/nowhere/server", "", "/nowhere/server was not found"],
  ["not executable", plain, "", `${plain} is not executable`],
  ["a directory", directory, "", `${directory} is not a file`],
  ["in the session's directory, which is known there", "bin/server", "", undefined],
])("a program that is %s", (_what, command, path, problem) => {
  expect(problemWithCommand({ command, env: {} }, path)?.what).toBe(problem);
});

test("a server's own PATH is where its program is looked for, once it is known", () => {
  expect(problemWithCommand({ command: "server", env: { PATH: directory } }, "/nowhere")).toBeUndefined();
  expect(problemWithCommand({ command: "server", env: { PATH: "${TOOLS}" } }, "/nowhere")).toBeUndefined();
});
