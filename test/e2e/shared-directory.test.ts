import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { thisProcess } from "../../src/app/host/processes.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import type { SessionDiff } from "../../src/runtime/files/files.ts";
import { example } from "../support/event-examples.ts";
import { agent, eventsOf, ofType, type TestHost, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";
import { until } from "../support/until.ts";

/** Sessions that work in place, in a directory in which others work too: each has only its own changes. */

const worker = agent({ tools: ["Write", "Bash"], permissions: { mode: "yolo" } });

function paths({ files }: Pick<SessionDiff, "files">): readonly string[] {
  return files.map(({ path }) => path);
}

async function sessionThat(t: TestHost, ...commands: readonly string[]): Promise<string> {
  await using session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  for (const command of commands) await session.send(order(["Bash", { command }])).result();
  return session.id;
}

test("a session has neither the changes of another one nor those of a person, and its rewind leaves them alone", async () => {
  await using t = await testHost(obedient);
  const at = (name: string): string => join(t.cwd, name);
  writeFileSync(at("both.txt"), "as it was\n");
  await using a = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await a.send(order(["Bash", { command: "echo a > a.txt; echo 1 > both.txt" }])).result();
  const b = await sessionThat(t, "echo b > b.txt");
  writeFileSync(at("person.txt"), "a person's\n");
  await a.send(order(["Bash", { command: "echo c > c.txt; echo more >> both.txt" }])).result();
  writeFileSync(at("later.txt"), "a person's\n");

  const { steps, ...all } = await t.host.files.diff(a.id, { byCall: true });
  expect(paths(all)).toEqual(["a.txt", "both.txt", "c.txt"]);
  expect(steps.map(paths)).toEqual([
    ["a.txt", "both.txt"],
    ["both.txt", "c.txt"],
  ]);
  expect((await t.host.files.patch(a.id)).toString()).not.toMatch(/person|later|b\.txt/);
  expect(paths(await t.host.files.diff(b))).toEqual(["b.txt"]);
  expect(paths(await t.host.files.diff(a.id, { from: "turn" }))).toEqual(["both.txt", "c.txt"]);

  await t.host.files.rewind(a.id, { to: "start" });
  expect(["a.txt", "c.txt"].filter((name) => existsSync(at(name)))).toEqual([]);
  expect(readFileSync(at("both.txt"), "utf8")).toBe("as it was\n");
  for (const name of ["b.txt", "person.txt", "later.txt"]) expect(existsSync(at(name)), name).toBe(true);
  expect(paths(await t.host.files.diff(a.id))).toEqual([]);

  await t.host.files.undoRewind(a.id);
  expect(readFileSync(at("both.txt"), "utf8")).toBe("1\nmore\n");
  expect(readFileSync(at("a.txt"), "utf8")).toBe("a\n");
  expect(existsSync(at("later.txt"))).toBe(true);
  expect(paths(await t.host.files.diff(a.id))).toEqual(["a.txt", "both.txt", "c.txt"]);
});

test("a file that someone else has changed since stops a rewind, by name, unless it may be overwritten", async () => {
  await using t = await testHost(obedient);
  const at = (name: string): string => join(t.cwd, name);
  const a = await sessionThat(t, "echo a > shared.txt; echo a > own.txt");
  const b = await sessionThat(t, "echo b >> shared.txt");

  const dry = await t.host.files.rewind(a, { to: "start", dryRun: true });
  expect([paths(dry), dry.conflicts]).toEqual([["own.txt", "shared.txt"], ["shared.txt"]]);
  const stopped = t.host.files.rewind(a, { to: "start" });
  await expect(stopped).rejects.toMatchObject({ code: "workspace_conflict", data: { paths: ["shared.txt"] } });
  expect(readFileSync(at("shared.txt"), "utf8")).toBe("a\nb\n");
  expect(readFileSync(at("own.txt"), "utf8")).toBe("a\n");

  // What the other one did comes off first; then nothing is in the way.
  await t.host.files.rewind(b, { to: "start" });
  expect(readFileSync(at("shared.txt"), "utf8")).toBe("a\n");
  await t.host.files.undoRewind(b);

  await t.host.files.rewind(a, { to: "start", overwrite: true });
  expect(["shared.txt", "own.txt"].filter((name) => existsSync(at(name)))).toEqual([]);
  await t.host.files.undoRewind(a);
  expect(readFileSync(at("shared.txt"), "utf8")).toBe("a\nb\n");
});

test("what a person does while the model thinks is theirs, and what a hook does after a call is the session's", async () => {
  let sessionId = "";
  await using t: TestHost = await testHost(async (request) => {
    if (request.toolResults.length === 1) {
      await until(() => eventsOf(t.host, sessionId), isCallKept);
      writeFileSync(join(t.cwd, "person.txt"), "while it thinks\n");
    }
    return obedient(request);
  });
  await using session = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    hooks: { afterTool: ({ input }) => appendFileSync(join(t.cwd, "a.txt"), `saw ${String(input["command"])}\n`) },
  });
  sessionId = session.id;
  await session.send(order(["Bash", { command: "echo 1 > a.txt" }], ["Bash", { command: "echo 2 > b.txt" }])).result();
  expect(readFileSync(join(t.cwd, "a.txt"), "utf8")).toContain("saw echo 1");
  expect(paths(await t.host.files.diff(session.id))).toEqual(["a.txt", "b.txt"]);
  await t.host.files.rewind(session.id, { to: "start" });
  expect(["a.txt", "b.txt", "person.txt"].filter((name) => existsSync(join(t.cwd, name)))).toEqual(["person.txt"]);
});

function isCallKept(events: readonly SessionEvent[]): boolean {
  return ofType(events, "capstan.checkpoint_taken").some(({ reason }) => reason === "call_end");
}

/** What a host leaves that dies while a call runs. */
async function leaveCallRunning(t: TestHost, sessionId: string): Promise<void> {
  await using store = await openStore(t.home, {});
  const lease = await store.leases.acquire(sessionId, thisProcess("host_dead"), 60_000);
  const call = example("agent.tool_use", { name: "Bash", input: { command: "make" } });
  const decided = example("capstan.permission_decided", {
    call_id: call.call_id,
    tool_use_id: call.id,
    tool: "Bash",
    decision: "allow",
    traits: { readOnly: false, edit: false, safeInternal: false },
  });
  const { session_thread_id: _thread, ...use } = call;
  const events = [example("session.status_running"), use, decided];
  await store.append(sessionId, { after: await store.head(sessionId), events, fence: lease.fence });
  await store.leases.release(lease);
}

test("what changed while a host that died was away is shown as unsure, and stops a rewind", async () => {
  await using t = await testHost(obedient);
  const id = await sessionThat(t, "echo 1 > sure.txt");
  await leaveCallRunning(t, id);
  writeFileSync(join(t.cwd, "whose.txt"), "made by the call, or by someone else since\n");
  await using resumed = await t.host.resumeSession(id, { onCrash: "stop" });
  expect(resumed.state.status).toBe("idle");

  const { steps } = await t.host.files.diff(id, { byCall: true });
  expect(steps.map(paths)).toEqual([["sure.txt"], ["whose.txt"]]);
  const taken = await t.host.files.checkpoints(id);
  expect(taken.map(({ unsure }) => unsure)).toEqual([false, false, true]);
  const stopped = t.host.files.rewind(id, { to: "start" });
  await expect(stopped).rejects.toMatchObject({ code: "workspace_conflict", data: { paths: ["whose.txt"] } });
  expect(existsSync(join(t.cwd, "whose.txt"))).toBe(true);
});
