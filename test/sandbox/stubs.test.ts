import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stubs } from "../../src/sandbox/stubs.ts";
import { temporaryDirectory } from "../support/host.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { until } from "../support/until.ts";

interface Place extends Disposable {
  readonly cwd: string;
  readonly stateDir: string;
  readonly home: string;
  /** As bubblewrap makes it. */
  stub(name: string): void;
  has(...names: readonly string[]): boolean[];
}

function place(): Place {
  const directory = temporaryDirectory();
  const [cwd = "", stateDir = "", home = ""] = ["ws", "state", "home"].map((name) => join(directory.path, name));
  for (const path of [cwd, stateDir, home]) mkdirSync(path);
  return {
    cwd,
    stateDir,
    home,
    stub(name) {
      writeFileSync(join(cwd, name), "");
      chmodSync(join(cwd, name), 0o444);
    },
    has: (...names) => names.map((name) => existsSync(join(cwd, name))),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

test("what a sandbox left is removed when it was not there before, and nothing else is", () => {
  using at = place();
  at.stub(".bashrc");
  new Stubs(at).expect(at);
  // Git is told to overlook what is to come, and not what was there.
  const ignored = readFileSync(join(at.home, ".config", "git", "ignore"), "utf8").split("\n");
  expect(ignored).toContain("/.zshrc");
  expect(ignored).not.toContain("/.bashrc");
  mkdirSync(join(at.cwd, ".claude", ".cc-writes"), { recursive: true });
  for (const name of [".zshrc", ".vscode", ".claude/agents", "empty.txt"]) at.stub(name);
  writeFileSync(join(at.cwd, ".profile"), "somebody's");
  // By the next process, after a kill.
  new Stubs(at).sweepAll();
  expect(at.has(".zshrc", ".vscode", ".claude")).toEqual([false, false, false]);
  expect(at.has(".bashrc", ".profile", "empty.txt")).toEqual([true, true, true]);
});

test("an empty file of a person's own stays", () => {
  using at = place();
  const stubs = new Stubs(at);
  stubs.expect(at);
  for (const name of [".mcp.json", ".gitmodules"]) writeFileSync(join(at.cwd, name), "");
  stubs.sweepAll();
  expect(at.has(".mcp.json", ".gitmodules")).toEqual([true, true]);
});

test("nothing is removed by a session that has run nothing since it last did so", () => {
  using at = place();
  const stubs = new Stubs(at);
  stubs.expect(at);
  at.stub(".zshrc");
  stubs.sweep();
  expect(at.has(".zshrc")).toEqual([false]);
  // Of another session in the same directory.
  at.stub(".zshrc");
  stubs.sweepAll();
  expect(at.has(".zshrc")).toEqual([true]);
});

sandboxTest("what is a mount of a running sandbox stays until that has ended", async () => {
  using at = place();
  const stubs = new Stubs(at);
  stubs.expect(at);
  const path = join(at.cwd, ".zshrc");
  const sandbox = ["--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", at.cwd, at.cwd];
  const script = "echo RUNS; read go; echo x > .zshrc && echo WROTE; true";
  const args = [...sandbox, "--ro-bind", "/dev/null", path, "--chdir", at.cwd, "--", "sh", "-c", script];
  const running = spawn("bwrap", args, { stdio: ["pipe", "pipe", "ignore"] });
  const said: string[] = [];
  running.stdout.on("data", (data) => said.push(String(data)));
  // It is there before it is a mount.
  await until(
    () => said.join(""),
    (text) => text === "RUNS\n",
  );
  stubs.sweep();
  expect(at.has(".zshrc")).toEqual([true]);
  const ended = new Promise((resolve) => running.on("close", resolve));
  running.stdin.end("go\n");
  await ended;
  expect(said.join("")).toBe("RUNS\n");
  stubs.sweepAll();
  expect(at.has(".zshrc")).toEqual([false]);
});

test("what the CLI makes in a repository stays as long as the CLI, and what git keeps there for ever", () => {
  using at = place();
  const git = join(at.cwd, ".git");
  mkdirSync(join(git, "objects", "info"), { recursive: true });
  mkdirSync(join(git, "branches"));
  const stubs = new Stubs(at);
  stubs.expect({ ...at, gitDirectories: [git] });
  for (const name of ["glab-cli", "remotes", "objects/info/commit-graphs/.claude-sandbox-noreplace"])
    mkdirSync(join(git, name), { recursive: true });
  writeFileSync(join(git, "config.worktree"), "");
  at.stub(".git/config.lock");
  stubs.sweep();
  expect(readdirSync(git).toSorted()).toEqual(["branches", "config.worktree", "glab-cli", "objects", "remotes"]);
  stubs.sweepAll();
  expect(readdirSync(git).toSorted()).toEqual(["branches", "objects"]);
  expect(readdirSync(join(git, "objects", "info"))).toEqual([]);
});
