import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProgram, safePath } from "../../src/process/programs.ts";
import { temporaryDirectory } from "../support/host.ts";

test("only directories that no agent fills are searched", () => {
  const path = [".", "", "bin", "/project/node_modules/.bin", "/project/tools", "/usr/bin"].join(":");
  expect(safePath(path)).toBe("/project/tools:/usr/bin");
  expect(safePath(path, { outside: "/project" })).toBe("/usr/bin");
});

test("a program is found by its whole path, past what an agent put in its way", () => {
  using directory = temporaryDirectory();
  const place = (name: string): string => {
    const folder = join(directory.path, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "git"), "#!/bin/sh\n");
    chmodSync(join(folder, "git"), 0o755);
    return folder;
  };
  const [packaged, workspace, real] = [place("a/node_modules/.bin"), place("workspace/bin"), place("real")];
  const path = [packaged, workspace, real].join(":");
  expect(findProgram("git", { path, outside: join(directory.path, "workspace") })).toBe(join(real, "git"));
  expect(findProgram("git", { path })).toBe(join(workspace, "git"));
  expect(findProgram("no-such-program", { path })).toBeUndefined();
});
