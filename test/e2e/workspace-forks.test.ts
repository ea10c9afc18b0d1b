import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { agent, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8" }).trim();
}

/** What people did to the project, and committed. */
function commit(cwd: string, files: Readonly<Record<string, string>>): string {
  if (!existsSync(join(cwd, ".git"))) git(cwd, "init", "-q", "-b", "main");
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  git(cwd, "add", ".");
  git(cwd, "commit", "-q", "-m", "work");
  return git(cwd, "rev-parse", "HEAD");
}

const KINDS: readonly NonNullable<EnvironmentInput["workspace"]>[] = [
  { kind: "worktree" },
  { kind: "clone" },
  { kind: "copy", mounts: [{ source: ".", target: ".", exclude: [".git"] }] },
];

test.each(KINDS)("what a fork changed is applied without taking back newer work: $kind", async (workspace) => {
  await using t = await testHost(obedient);
  const base = commit(t.cwd, { "readme.md": "old\n", gone: "1\n" });
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment: { workspace } });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  rmSync(join(t.cwd, "gone"));
  commit(t.cwd, { "readme.md": "new\n", newer: "1\n" });

  const fork = await t.host.forkSession(session.id);
  expect(readFileSync(join(fork.record.cwd, "readme.md"), "utf8")).toBe("old\n");
  expect(fork.state.files.workspace?.base).toBe(workspace.kind === "copy" ? undefined : base);
  expect((await t.host.workspaces.list()).map(({ hasUnexportedChanges }) => hasUnexportedChanges)).toEqual([
    true,
    true,
  ]);
  await fork.send(order(["Bash", { command: "echo 2 > b" }])).result();
  const { files } = await t.host.files.diff(fork.id);
  expect(files.map(({ path, kind }) => `${kind} ${path}`)).toEqual(["added a", "added b"]);
  expect(await t.host.files.apply(fork.id)).toMatchObject({ conflicts: [], applied: [{}, {}] });
  expect(readFileSync(join(t.cwd, "readme.md"), "utf8")).toBe("new\n");
  expect(readdirSync(t.cwd).filter((name) => name !== ".git")).toEqual(["a", "b", "newer", "readme.md"]);
});

test("a fork of a session that changed nothing starts from the parent's commit as well", async () => {
  await using t = await testHost(obedient);
  const base = commit(t.cwd, { "readme.md": "old\n" });
  const environment = { workspace: { kind: "worktree" as const } };
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment });
  commit(t.cwd, { "readme.md": "new\n" });
  const fork = await t.host.forkSession(session.id);
  expect(git(fork.record.cwd, "rev-parse", "HEAD")).toBe(base);
});

test("a fork whose files are gone says so, and leaves neither a session nor a workspace", async () => {
  await using t = await testHost(obedient);
  commit(t.cwd, { "readme.md": "old\n" });
  const environment = { workspace: { kind: "worktree" as const } };
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  rmSync(join(t.home, "workspaces", session.id, "checkpoints.git"), { recursive: true });
  await expect(t.host.forkSession(session.id)).rejects.toMatchObject({
    code: "workspace_failed",
    message: expect.stringMatching(/checkpoints were removed.*Start a new session/),
  });
  expect((await t.host.sessions()).map(({ id }) => id)).toEqual([session.id]);
  expect((await t.host.workspaces.list()).map(({ sessionId }) => sessionId)).toEqual([session.id]);
  expect(git(t.cwd, "worktree", "list").split("\n")).toHaveLength(2);
});
