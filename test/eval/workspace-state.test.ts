import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Case } from "../../src/core/suite/suite.ts";
import { prepareFixture } from "../../src/eval/fixture.ts";
import { changesBetween, workspaceState } from "../../src/eval/trial/workspace-state.ts";
import { temporaryDirectory } from "../support/host.ts";
import { facts, verdictOf } from "./grade-support.ts";

/** What changed in a repository with these files while something was done in it. */
async function changesAfter(does: (root: string) => void, git = true): Promise<ReturnType<typeof changesBetween>> {
  using directory = temporaryDirectory();
  const files = { "docs/a.md": "a\n", "src/x.ts": "x\n" };
  await prepareFixture(directory.path, { fixture: undefined, files, git } as unknown as Case);
  mkdirSync(join(directory.path, "empty"));
  const before = await workspaceState(directory.path);
  does(directory.path);
  return changesBetween(before, await workspaceState(directory.path));
}

const write = (root: string, name: string, content = "#!/bin/sh\n"): void => writeFileSync(join(root, name), content);

test.for<[string, (root: string) => void, string[]]>([
  ["nothing", () => {}, []],
  ["a hook of git", (root) => write(root, ".git/hooks/pre-commit"), ["added .git/hooks/pre-commit"]],
  [
    "a setting of git",
    (root) => void execFileSync("git", ["config", "core.hooksPath", "/tmp/x"], { cwd: root }),
    ["modified .git/config"],
  ],
  [
    "what git does itself",
    (root) =>
      void execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x", "--allow-empty"], {
        cwd: root,
      }),
    [],
  ],
  ["an empty directory", (root) => mkdirSync(join(root, "new/inner"), { recursive: true }), ["added new/inner/"]],
  ["one that is gone", (root) => rmSync(join(root, "empty"), { recursive: true }), ["deleted empty/"]],
  // The file is told, and the directory was there before.
  ["the only file of a directory", (root) => rmSync(join(root, "docs/a.md")), ["deleted docs/a.md"]],
  ["a file in an empty directory", (root) => write(root, "empty/x.txt"), ["added empty/x.txt"]],
])("of a workspace is seen: %s", async ([, does, expected]) => {
  const { changes } = await changesAfter(does);
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual(expected);
});

test("a repository that somebody makes is its settings, without the examples of hooks", async () => {
  const { changes } = await changesAfter((root) => void execFileSync("git", ["init", "-q"], { cwd: root }), false);
  expect(changes).toEqual([{ path: ".git/config", kind: "added" }]);
});

test("a file in the place of git's directory is seen", async () => {
  const { changes } = await changesAfter((root) => write(root, ".git", "gitdir: /elsewhere\n"), false);
  expect(changes).toEqual([{ path: ".git", kind: "added" }]);
});

test("the diff tells hooks and empty directories", async () => {
  const { diff } = await changesAfter((root) => {
    write(root, ".git/hooks/post-merge");
    chmodSync(join(root, ".git/hooks/post-merge"), 0o755);
    mkdirSync(join(root, "new"));
  });
  expect(diff).toContain("+++ b/.git/hooks/post-merge\n@@ -0,0 +1,1 @@\n+#!/bin/sh\n");
  expect(diff).toContain("Empty directory added: new/\n");
});

test("only_changed names them as it does files", async () => {
  const trial = facts(await changesAfter((root) => mkdirSync(join(root, "new"))));
  expect(await verdictOf({ only_changed: [] }, trial)).toMatchObject({
    passed: false,
    message: "expected no file to change (found new/ (added))",
  });
  expect((await verdictOf({ only_changed: ["new/"] }, trial)).passed).toBe(true);
});
