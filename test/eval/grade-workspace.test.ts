import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { facts, verdictOf } from "./grade-support.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-test-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const workspace = join(root, "workspace");
mkdirSync(join(workspace, "docs"), { recursive: true });
writeFileSync(join(workspace, "docs/a.md"), "# A\n\nHello.\n");
writeFileSync(join(workspace, "data.bin"), Buffer.from([0, 1, 2]));
writeFileSync(join(root, "secret.txt"), "secret");
writeFileSync(join(root, "expected.md"), "# A\n\nHello.\n");
writeFileSync(join(root, "other.md"), "# B\n\nHello.\n");
symlinkSync(join(root, "secret.txt"), join(workspace, "out.txt"));
symlinkSync(root, join(workspace, "up"));
symlinkSync("docs/a.md", join(workspace, "inside.md"));
symlinkSync("nothing", join(workspace, "dangling"));

const trial = facts({
  suiteFile: join(root, "a.test.yaml"),
  workspace,
  changes: [
    { path: "docs/a.md", kind: "added" },
    { path: "src/x.ts", kind: "modified" },
  ],
  diff: "--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1 +1 @@\n-let a;\n+const a = 1;\n",
});

type Case = readonly [grader: Readonly<Record<string, unknown>>, passes: boolean, message: RegExp];

const CASES: readonly Case[] = [
  [{ files: { exist: ["docs/a.md", "docs", "inside.md"] } }, true, /docs\/a\.md exists/],
  [{ files: { exist: ["docs/b.md"] } }, false, /expected docs\/b\.md to exist \(found nothing there\)/],
  [{ files: { exist: ["docs/a.md/x"] } }, false, /nothing there/],
  [{ files: { exist: ["out.txt"] } }, false, /a link to a path outside the workspace/],
  [{ files: { exist: ["up/secret.txt"] } }, false, /a link to a path outside the workspace/],
  [{ files: { exist: ["dangling"] } }, false, /a broken link/],
  [{ files: { missing: ["docs/b.md"] } }, true, /does not exist/],
  [{ files: { missing: ["docs/a.md"] } }, false, /expected docs\/a\.md not to exist \(found a file\)/],
  [{ files: { missing: ["dangling"] } }, false, /a broken link/],
  [{ files: { content: { "docs/a.md": "# A\n\nHello." } } }, true, /docs\/a\.md is/],
  [{ files: { content: { "docs/a.md": "# B" } } }, false, /expected docs\/a\.md to be "# B" \(found "# A/],
  [
    { files: { content: { "inside.md": { contains: "Hello", matches: "^# [A-Z]", not_contains: "Bye" } } } },
    true,
    /contains "Hello"/,
  ],
  [{ files: { content: { "docs/a.md": { contains: ["Hello", "World"] } } } }, false, /docs\/a\.md to contain "World"/],
  [
    { files: { content: { "out.txt": { contains: "secret" } } } },
    false,
    /expected out\.txt to be a file \(found a link to a path outside/,
  ],
  [{ files: { content: { "up/secret.txt": "secret" } } }, false, /a link to a path outside/],
  [{ files: { content: { docs: "x" } } }, false, /found a directory/],
  [{ files: { same_as: { "docs/a.md": "expected.md" } } }, true, /the same as expected\.md/],
  [{ files: { same_as: { "docs/a.md": "other.md" } } }, false, /expected docs\/a\.md to be the same as other\.md/],
  [{ files: { same_as: { "data.bin": "other.md" } } }, false, /found 3 bytes/],
  [{ files: { exist: ["docs/a.md"], missing: ["docs"] } }, false, /^expected docs not to exist/],
  [{ diff: { contains: "+const a = 1;" } }, true, /the diff contains/],
  [{ diff: { not_contains: "let a" } }, false, /expected the diff not to contain "let a" \(found/],
  [{ diff: { matches: "/^\\+const \\w+ = 2;$/m" } }, false, /expected the diff to match/],
  [{ only_changed: ["docs/", "src/*.ts"] }, true, /nothing changed except/],
  [{ only_changed: ["**/*.ts"] }, false, /expected only \*\*\/\*\.ts to change \(found docs\/a\.md \(added\)\)/],
  [{ only_changed: [] }, false, /expected no file to change \(found docs\/a\.md \(added\), src\/x\.ts \(modified\)\)/],
];

test.for(CASES)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, trial);
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

test("a file with another content has a diff", async () => {
  const { diff } = await verdictOf({ files: { same_as: { "docs/a.md": "other.md" } } }, trial);
  expect(diff).toContain("-# B\n+# A\n");
});

test("a file beside the suite that is not there is an error", async () => {
  await expect(verdictOf({ files: { same_as: { "docs/a.md": "none.md" } } }, trial)).rejects.toThrow(
    /files: the file .*none\.md cannot be read/,
  );
});

test("nothing may change, and nothing did", async () => {
  expect((await verdictOf({ only_changed: [] }, facts())).passed).toBe(true);
});

const stateDir = join(root, "state");

const COMMANDS: readonly Case[] = [
  [{ command: "test -f docs/a.md" }, true, /exited with code 0/],
  [
    { command: "echo on stdout; echo on stderr >&2; exit 3" },
    false,
    /expected `.*` to exit with code 0 \(found 3\); it printed:\non stdout\non stderr$/,
  ],
  [{ command: { run: "exit 3", exit_code: 3 } }, true, /exited with code 3/],
  [{ command: { run: "cat docs/a.md", stdout: { contains: "Hello" } } }, true, /contains "Hello"/],
  [{ command: { run: "echo a", stdout: "b" } }, false, /expected what `echo a` printed to be "b" \(found "a"\)/],
  [{ command: { run: "kill -9 $$" } }, false, /that a signal ended it/],
  [{ command: { run: "false" } }, false, /it printed nothing/],
];

test.for(COMMANDS)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, trial, { stateDir });
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

test("a command sees its own home and nothing of ours", async () => {
  const { message } = await verdictOf(
    { command: "env | cut -d= -f1 | sort | tr '\\n' ' '; echo $HOME; false" },
    trial,
    {
      stateDir,
    },
  );
  const [, names = "", home] = /printed:\n(.*) (\/.*)$/.exec(message) ?? [];
  expect(names.split(" ").filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name))).toEqual([
    "HOME",
    "LANG",
    "PATH",
    "TMPDIR",
  ]);
  expect(home).toBe(join(stateDir, "home"));
});

test("a command that does not end is killed with all it started, and that is told", async () => {
  // No other process sleeps for as long as this.
  const seconds = `${process.pid}.25`;
  const run = `sleep ${seconds} & echo waiting; sleep ${seconds}`;
  const verdict = await verdictOf({ command: { run, timeout: "300ms" } }, trial, { stateDir });
  expect(verdict.passed).toBe(false);
  expect(verdict.message).toMatch(/to end within 300 ms \(it was killed\); it printed:\nwaiting/);
  expect(
    await until(
      () => processesWith(seconds),
      (found) => found.length === 0,
    ),
  ).toEqual([]);
});

function processesWith(word: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  });
}

test("a command that cannot be started is an error; one that is given up ends with the reason", async () => {
  const without = { runCommand: () => Promise.reject(new Error("no shell")) };
  await expect(verdictOf({ command: "true" }, trial, without)).rejects.toThrow(
    "command: `true` could not be run: no shell",
  );
  const stop = new AbortController();
  const graded = verdictOf({ command: "sleep 100" }, trial, { stateDir, signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(graded).rejects.toThrow("enough");
});
