import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { clock } from "../../../src/app/clock.ts";
import { openHost } from "../../../src/app/open-host.ts";
import type { SessionEvent } from "../../../src/core/events/events.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { FASTER } from "../cli.ts";
import { eventsOf, ofType, temporaryDirectory, testEnvironment, ANY_PRESSURE } from "../host.ts";
import { type ModelRequest, scriptedModel } from "../scripted-model.ts";
import { bundleProgram } from "./bundle.ts";
import type { CrashPoint } from "./crashing-store.ts";
import type { HostReport, HostTask } from "./host-process.ts";
import { crashAgent, crashScript, EFFECTS } from "./task.ts";

/** What dies, and when. */
export type Blow =
  | ({ readonly what: "append" } & CrashPoint)
  | { readonly what: "host" | "engine"; readonly afterMs: number };

/** How long after the host's death its processes may be seen. */
const GONE_WITHIN_MS = 10_000;

/** Runs the task in a host of its own, strikes, resumes in another host, and checks every promise. */
export async function survive(blow: Blow): Promise<void> {
  using directory = temporaryDirectory();
  await using model = await scriptedModel(crashScript);
  const place = {
    home: join(directory.path, "home"),
    cwd: join(directory.path, "work"),
    environment: testEnvironment(model.url),
  };
  mkdirSync(place.cwd);
  const { sessionId } = await strike({ ...place, agent: crashAgent }, blow);
  if (sessionId === undefined) return;
  const requests = model.requests.length;
  await expectNothingLeft(directory.path);
  expect(model.requests.length, "requests after the host's death").toBe(requests);

  await using host = await openHost({
    home: place.home,
    environment: place.environment,
    retries: 1,
    capacity: ANY_PRESSURE,
  });
  const session = await host.resumeSession(sessionId);
  await idle(session);
  const effects = effectsIn(place.cwd);
  const accepted = ofType(await eventsOf(host, sessionId), "user.message").length > 0;
  await session.send("Tell me that you are there.").result();
  // A message that was never stored is not done; the model then begins with the second one.
  if (accepted) expect(effectsIn(place.cwd)).toEqual(effects);

  const events = await eventsOf(host, sessionId);
  await expectValidLog(place.home, { sessionId, events });
  if (blow.what !== "append")
    expect(ofType(events, "capstan.process_lost").length, "the blow came in time").toBeGreaterThan(0);
  expectEffects(effectsIn(place.cwd), events);
  expectHistory(model.requests.at(-1), events);
}

/** The number of appends of an undisturbed run: the crash points there are. */
export async function countAppends(): Promise<number> {
  using directory = temporaryDirectory();
  await using model = await scriptedModel(crashScript);
  const cwd = join(directory.path, "work");
  mkdirSync(cwd);
  const child = await start({
    home: join(directory.path, "home"),
    cwd,
    environment: testEnvironment(model.url),
    agent: crashAgent,
  });
  let appends = 0;
  child.on("message", (report: HostReport) => {
    if (report.kind === "done") appends = report.appends.log;
  });
  await once(child, "exit");
  expect(effectsIn(cwd).toSorted()).toEqual([...EFFECTS]);
  return appends;
}

async function start(task: HostTask): Promise<ChildProcess> {
  const child = fork(await bundleProgram("host-process.ts"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...FASTER },
  });
  child.send(task);
  return child;
}

async function strike(task: HostTask, blow: Blow): Promise<{ sessionId: string | undefined }> {
  const child = await start(blow.what === "append" ? { ...task, crash: blow } : task);
  const ended = once(child, "exit");
  let sessionId: string | undefined;
  child.on("message", (report: HostReport) => {
    if (report.kind === "started") sessionId = report.sessionId;
  });
  if (blow.what !== "append") {
    await Promise.race([once(child, "message"), ended]);
    await Promise.race([sleep(blow.afterMs), ended]);
    if (blow.what === "host") child.kill("SIGKILL");
    else await killEngine(task.home, sessionId);
  }
  const [, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  // A blow that comes too late proves nothing. One append may be missing where two happened to be written together.
  if (blow.what === "host") expect(signal, "the host was killed while it worked").toBe("SIGKILL");
  return { sessionId };
}

/** Waits for the process when it is not there yet: a blow that hits nothing proves nothing. */
async function killEngine(home: string, sessionId: string | undefined): Promise<void> {
  if (sessionId === undefined) return;
  await using store = await openSqliteStore({ path: join(home, "capstan.db"), clock });
  const until = Date.now() + GONE_WITHIN_MS;
  let pid: number | undefined;
  while (pid === undefined && Date.now() < until) {
    const events = (await store.events(sessionId)).map(({ event }) => event);
    pid = ofType(events, "capstan.process_started").at(-1)?.pid;
    if (pid === undefined) await sleep(20);
  }
  expect(pid, "there is a process to kill").toBeGreaterThan(0);
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the same moment.
  }
}

async function idle(
  session: Awaited<ReturnType<Awaited<ReturnType<typeof openHost>>["resumeSession"]>>,
): Promise<void> {
  while (session.state.status !== "idle" || session.state.undelivered.length > 0) await sleep(20);
}

/** No process works in the test's directory or names it on its command line or in its environment. */
export async function expectNothingLeft(directory: string): Promise<void> {
  const until = Date.now() + GONE_WITHIN_MS;
  while (processesOf(directory).length > 0 && Date.now() < until) await sleep(50);
  expect(processesOf(directory)).toEqual([]);
}

function processesOf(directory: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    return ["cmdline", "environ"].some((file) => read(`/proc/${pid}/${file}`).includes(directory));
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export function effectsIn(cwd: string): string[] {
  const file = join(cwd, "effects.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

export async function expectValidLog(
  home: string,
  { sessionId, events }: { sessionId: string; events: readonly SessionEvent[] },
): Promise<void> {
  await using store = await openSqliteStore({ path: join(home, "capstan.db"), clock });
  expect(await store.verify(sessionId)).toEqual({ ok: true, events: events.length });
  const uses = ofType(events, "agent.tool_use").map((event) => event.call_id);
  const results = ofType(events, "agent.tool_result").map((event) => event.call_id);
  expect(new Set(uses).size, "no call is logged twice").toBe(uses.length);
  expect(results.toSorted(), "every call has one outcome").toEqual(uses.toSorted());
  const messages = ofType(events, "user.message").map((event) => event.id);
  const delivered = ofType(events, "capstan.input_delivered").flatMap((event) => event.event_ids);
  expect(delivered, "every message is delivered once").toEqual(messages);
  expect(events.at(-1)?.type).toBe("session.status_idle");
}

/** A completed call has run once; one whose outcome is unknown at most once; any other never. */
function expectEffects(effects: readonly string[], events: readonly SessionEvent[]): void {
  for (const name of EFFECTS) {
    const calls = ofType(events, "agent.tool_use").filter((event) =>
      JSON.stringify(event.input).includes(`echo ${name} `),
    );
    const results = calls.map((use) =>
      ofType(events, "agent.tool_result").find((event) => event.call_id === use.call_id),
    );
    const completed = results.filter((result) => result?.outcome === "completed").length;
    const unknown = results.filter((result) => JSON.stringify(result?.content).includes("outcome is unknown")).length;
    const count = effects.filter((effect) => effect === name).length;
    expect(count, `effect ${name}`).toBeGreaterThanOrEqual(completed);
    expect(count, `effect ${name}`).toBeLessThanOrEqual(completed + unknown);
    expect(count, `effect ${name} doubled`).toBeLessThanOrEqual(1);
  }
}

/** The model is still sent all that was said and done on the primary line, once. */
export function expectHistory(request: ModelRequest | undefined, events: readonly SessionEvent[]): void {
  const withdrawn = new Set(ofType(events, "capstan.message_withdrawn").map((event) => event.message_id));
  const blocks = (request?.body.messages ?? []).flatMap((message) =>
    typeof message.content === "string" ? [] : message.content,
  );
  const ids = (type: string, field: string) =>
    blocks.filter((block) => block["type"] === type).map((block) => String(block[field]));
  const primary = ofType(events, "agent.tool_use")
    .filter((event) => event.session_thread_id == null)
    .map((event) => event.call_id);
  expect(ids("tool_use", "id").toSorted()).toEqual(primary.toSorted());
  expect(ids("tool_result", "tool_use_id").toSorted()).toEqual(primary.toSorted());
  for (const message of ofType(events, "agent.message").slice(0, -1)) {
    if (message.session_thread_id != null || withdrawn.has(message.message_id ?? "")) continue;
    for (const block of message.content) if (block.type === "text") expect(request?.transcript).toContain(block.text);
  }
  for (const message of ofType(events, "user.message"))
    for (const block of message.content) if (block.type === "text") expect(request?.transcript).toContain(block.text);
}
