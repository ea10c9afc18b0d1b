import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { eraseSession } from "../../src/app/record/session-files.ts";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import type { Session } from "../../src/runtime/session.ts";
import { MINUTE, sampleOwner } from "../store/samples.ts";
import { example } from "../support/event-examples.ts";
import { agent, eventsOf, ofType, type TestHost, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });
const asking = agent({ tools: ["Bash"], permissions: { ask: ["Bash"] } });

/** In a repository that ignores `*.log`. */
async function worktree(t: TestHost, more: EnvironmentInput = {}, given = worker): Promise<Session> {
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: t.cwd, encoding: "utf8" });
  git("init", "-q", "-b", "main");
  writeFileSync(join(t.cwd, ".gitignore"), "*.log\n");
  mkdirSync(join(t.cwd, "deep"));
  writeFileSync(join(t.cwd, "deep/file"), "1\n");
  git("add", ".");
  git("-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "-q", "-m", "begin");
  return t.host.startSession({ agent: given, cwd: t.cwd, environment: { workspace: { kind: "worktree" }, ...more } });
}

/** It is kept, and goes when its changes may be lost. */
async function expectKept(t: TestHost, session: Session, why: RegExp): Promise<void> {
  await expect(t.host.workspaces.remove(session.id)).rejects.toMatchObject({
    code: "workspace_conflict",
    message: expect.stringMatching(why),
  });
  expect(existsSync(session.record.cwd)).toBe(true);
  await t.host.workspaces.remove(session.id, { discardChanges: true });
  expect(existsSync(session.record.cwd)).toBe(false);
}

/** As a host leaves a session that it stored this of, and nothing more. */
async function diedAfter(t: TestHost, { id }: Session, event: SessionEvent): Promise<void> {
  await using store = await openStore(t.home, {});
  const lease = await store.leases.acquire(id, sampleOwner("host_dead"), MINUTE);
  await store.append(id, { after: await store.head(id), events: [event], fence: lease.fence });
  await store.leases.release(lease);
}

const listed = async (t: TestHost): Promise<readonly boolean[]> =>
  (await t.host.workspaces.list()).map(({ hasUnexportedChanges }) => hasUnexportedChanges);

test("a workspace without checkpoints is kept when its files were changed, and goes when they were not", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t, { checkpoints: { mode: "off" } });
  const idle = await t.host.startSession({ agent: worker, cwd: t.cwd, environment: session.record.environment });
  await session.send(order(["Bash", { command: "echo 1 > deep/file" }])).result();
  await idle.send("Hello.").result();
  expect(new Set(await listed(t))).toEqual(new Set([false, true]));
  await t.host.workspaces.remove(idle.id);
  await expectKept(t, session, /no checkpoint to show how. Copy what you need from .*--discard-changes/);
});

test.each<[string, (cwd: string) => void]>([
  ["changed", (cwd) => writeFileSync(join(cwd, "deep/file"), "2\n")],
  ["added a file that git ignores", (cwd) => writeFileSync(join(cwd, "deep/a.log"), "1\n")],
  ["removed", (cwd) => rmSync(join(cwd, "deep/file"))],
])("what a person %s before the agent did anything is kept", async (_what, edit) => {
  await using t = await testHost(obedient);
  const session = await worktree(t);
  await session.send("Hello.").result();
  expect(await listed(t)).toEqual([false]);
  edit(session.record.cwd);
  expect(await listed(t)).toEqual([true]);
  await expectKept(t, session, /no checkpoint/);
});

test("a file that is too large for a checkpoint is kept, unless it was there from the beginning", async () => {
  await using t = await testHost(obedient);
  writeFileSync(join(t.cwd, "old"), "1".repeat(200));
  const session = await worktree(t, { checkpoints: { max_file_bytes: 100 } });
  const idle = await t.host.startSession({ agent: worker, cwd: t.cwd, environment: session.record.environment });
  await idle.send(order(["Bash", { command: "mkfifo pipe" }])).result();
  await t.host.workspaces.remove(idle.id);
  await session.send(order(["Bash", { command: "head -c 200 /dev/zero > large" }])).result();
  await expectKept(t, session, /keeps its workspace: large \(too large\): not in any checkpoint/);
});

test("a large file that was changed is kept, also when the rest was exported", async () => {
  await using t = await testHost(obedient);
  writeFileSync(join(t.cwd, "large"), "1".repeat(200));
  const session = await worktree(t, { checkpoints: { max_file_bytes: 100 } });
  await session.send(order(["Bash", { command: "echo 2 >> large; echo 2 > deep/file" }])).result();
  await t.host.files.exportBranch(session.id);
  await expectKept(t, session, /large \(too large\)/);
});

test("a branch without the files that git ignores is no export of them", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t);
  await session.send(order(["Bash", { command: "echo 2 > deep/file; echo 1 > a.log" }])).result();
  expect(await t.host.files.exportBranch(session.id)).toMatchObject({ skipped: ["a.log"] });
  expect(ofType(await eventsOf(t.host, session.id), "capstan.workspace_exported")).toEqual([]);
  await expect(t.host.workspaces.remove(session.id)).rejects.toMatchObject({ code: "workspace_conflict" });
  await t.host.files.exportPatch(session.id, "-");
  await t.host.workspaces.remove(session.id);
});

test("an export of nothing says so, and files that are as at the start need none", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t);
  await session.send(order(["Bash", { command: "echo 1 > a.log" }])).result();
  const nothing = { code: "not_found", message: expect.stringContaining("Nothing to export") as string };
  await expect(t.host.files.exportBranch(session.id)).rejects.toMatchObject(nothing);
  await session.send(order(["Bash", { command: "rm a.log" }])).result();
  await expect(t.host.files.exportPatch(session.id, "-")).rejects.toMatchObject(nothing);
  expect(ofType(await eventsOf(t.host, session.id), "capstan.workspace_exported")).toEqual([]);
  await t.host.workspaces.remove(session.id);
});

test("a removal that was cut off can be repeated, and nobody goes on in what it left", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t);
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  await session.close();
  await diedAfter(t, session, example("capstan.workspace_removed"));
  expect(await listed(t)).toEqual([false]);
  await expect(t.host.resumeSession(session.id)).rejects.toMatchObject({ code: "not_found" });
  await t.host.workspaces.remove(session.id);
  expect(existsSync(session.record.cwd)).toBe(false);
  expect(ofType(await eventsOf(t.host, session.id), "capstan.workspace_removed")).toHaveLength(1);
});

test("a session that waits for an answer can be cleaned and deleted", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t, {}, asking);
  const other = await t.host.startSession({ agent: asking, cwd: t.cwd, environment: session.record.environment });
  for (const one of [session, other]) {
    await one.send(order(["Bash", { command: "echo 1 > a" }])).result();
    expect(one.state.stopReason?.type).toBe("requires_action");
  }
  await t.host.workspaces.remove(session.id);
  expect(existsSync(session.record.cwd)).toBe(false);
  await other.close();
  await using store = await openStore(t.home, {});
  const given = { home: t.home, sessionId: other.id };
  writeFileSync(join(other.record.cwd, "mine"), "1\n");
  await expect(eraseSession(store, { ...given, discardChanges: false })).rejects.toMatchObject({
    code: "workspace_conflict",
  });
  rmSync(join(other.record.cwd, "mine"));
  await eraseSession(store, { ...given, discardChanges: true });
  expect(existsSync(other.record.cwd)).toBe(false);
  expect((await t.host.sessions()).map(({ id }) => id)).toEqual([session.id]);
});

test("a session whose host died in a turn can be cleaned; one that works just now cannot", async () => {
  await using t = await testHost(obedient);
  const session = await worktree(t);
  const turn = session.send(order(["Bash", { command: "until [ -e go ]; do sleep 0.05; done; rm go" }]));
  for await (const item of session.events()) if (item.type === "capstan.permission_decided") break;
  for (const discardChanges of [false, true])
    await expect(t.host.workspaces.remove(session.id, { discardChanges })).rejects.toMatchObject({
      code: "session_busy",
    });
  writeFileSync(join(session.record.cwd, "go"), "");
  await turn.result();
  await session.close();
  await diedAfter(t, session, example("session.status_running"));
  await t.host.workspaces.remove(session.id);
  expect(existsSync(session.record.cwd)).toBe(false);
});
