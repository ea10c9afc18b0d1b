import { existsSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { initialState, inTurn, reduce } from "../../src/core/session/state.ts";
import type { SessionRecord, Store } from "../../src/core/ports/store.ts";
import { importSession } from "../../src/runtime/files/archive.ts";
import { exportSession } from "../../src/runtime/files/export-session.ts";
import { Database } from "../../src/store/sqlite/file/database.ts";
import { contentHash } from "../../src/store/sqlite/outputs/tool-outputs.ts";
import { eventHash, genesisHash } from "../../src/store/sqlite/audit/hash-chain.ts";
import { migrate } from "../../src/store/sqlite/file/migrations.ts";
import { openSqliteStore, storeIn } from "../../src/store/sqlite/store.ts";
import { MINUTE, sampleMessage, sampleMessages, sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../store/temporary.ts";
import { EVENT_EXAMPLES } from "../support/event-examples.ts";
import { validLogs } from "../support/event-logs.ts";
import { agent, ofType, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";
import { say, text, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

const deps = {
  ids,
  clock,
  owner: sampleOwner("host_importer"),
  chain: { genesisHash, eventHash, contentHash },
  trust: true,
};
const record = sampleSession("sesn_old", {
  title: "Prüfung ✓",
  project: "/srv/a",
  cwd: "/srv/a/b",
  forkedFrom: { sessionId: "sesn_parent", seq: 4 },
});

test("a session with every kind of event arrives in another store as it was, under a new id", async () => {
  await using from = await openStore();
  await using to = await openStore();
  const events = Object.values(EVENT_EXAMPLES);
  const lines = await archiveOf(from.store, { record, events });
  const id = await importSession(to.store, lines, deps);
  expect(id).not.toBe(record.id);
  const { createdAt: _time, ...imported } = (await to.store.session(id)) ?? record;
  const { createdAt: _earlier, ...original } = record;
  expect(imported).toEqual({ ...original, id, forkedFrom: null });
  // They speak of files, which stayed behind.
  const added = expect.objectContaining({ type: "capstan.workspace_removed", reason: "imported" }) as SessionEvent;
  expect((await to.store.events(id)).map(({ event }) => event)).toEqual([...events, added]);
  expect(await to.store.verify(id)).toEqual({ ok: true, events: events.length + 1 });
  const [there] = await from.store.sessions();
  const { status, turns, usd, firstMessage } = there ?? {};
  expect(await to.store.sessions()).toMatchObject([{ id, status, turns, usd, firstMessage }]);
});

test("any log survives, its turn ends, and an import can be exported and imported again", async () => {
  await using from = await openStore();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(validLogs, async (events) => {
      const lines = await archiveOf(from.store, { record: { ...record, id: `sesn_${(made += 1)}` }, events });
      const first = await importSession(from.store, lines, deps);
      const second = await importSession(from.store, exportSession(from.store, first), deps);
      const imported = (await from.store.events(second)).map(({ event }) => event);
      expect(imported.slice(0, events.length)).toEqual(events);
      // A turn that was under way is over, and only the first import has to say so.
      expect(inTurn(imported.reduce((state, event, index) => reduce(state, event, index + 1), initialState))).toBe(
        false,
      );
      expect(imported.length).toBe(await from.store.head(first));
    }),
    { numRuns: 20 },
  );
});

test("texts, key orders and fields that only a later version knows stay as they were", async () => {
  await using from = await openStore();
  const texts = ["nul \0", "lone \ud800 surrogate", "line \u2028 end \r\n", "🚢 \\u0041 \"'", ""].map(sampleMessage);
  const odd = { zebra: 1, 10: "ten", 9: "nine", ...sampleMessage("later"), aardvark: { b: 1, a: -0.5e-7 } };
  const lines = await archiveOf(from.store, { record, events: [...texts, odd] });
  for (const line of lines) expect(line).not.toMatch(/[\r\n]/);
  const id = await importSession(from.store, lines, deps);
  const stored = await from.store.events(id);
  expect(JSON.stringify(stored.map(({ event }) => event))).toBe(JSON.stringify([...texts, odd]));
});

test("the archive has a header and one line per event, and nothing of the engine's transcript", async () => {
  await using from = await openStore();
  await archiveOf(from.store, { record, events: sampleMessages(1_200) });
  await from.store.transcripts.append(record.id, "", [{ type: "user", uuid: "u", message: "only the engine knows" }]);
  const lines = await Array.fromAsync(exportSession(from.store, record.id));
  const [first, ...rest] = lines.map((line) => JSON.parse(line) as unknown);
  expect(first).toEqual({ capstan: 1, session: record, head: 1_200 });
  expect(rest).toEqual(await from.store.events(record.id));
  expect(lines.join("\n")).not.toContain("only the engine knows");
  const id = await importSession(from.store, lines, deps);
  expect(await from.store.transcripts.load(id, "")).toEqual([]);
  expect(await from.store.head(id)).toBe(1_200);
});

test("variables that are secret are not in the archive, and not in what is made of it", async () => {
  await using from = await openStore();
  const env = { GITHUB_TOKEN: "hunter2", LEVEL: "info" };
  const secretive = sampleSession("sesn_secretive", {
    agent: parseAgent(agent({ mcp_servers: { files: { command: "serve", env } } })),
    environment: parseEnvironment({
      workspace: { kind: "clone", from: "https://kim:hunter2@git.example/shop.git" },
      variables: { PIN_KEY: "hunter2", LANG: "C" },
    }),
  });
  const lines = await archiveOf(from.store, { record: secretive, events: sampleMessages(1) });
  expect(lines.join("\n")).not.toContain("hunter2");
  const imported = await from.store.session(await importSession(from.store, lines, deps));
  expect(imported?.environment.variables).toEqual({ LANG: "C" });
  expect(imported?.agent.mcp_servers?.["files"]).toMatchObject({ env: { LEVEL: "info" } });
  expect((await from.store.session(secretive.id))?.environment.variables).toEqual({ PIN_KEY: "hunter2", LANG: "C" });
});

test("an imported session is free for any host, and the lines may end with an empty one", async () => {
  await using from = await openStore();
  const lines = await archiveOf(from.store, { record, events: [] });
  const id = await importSession(from.store, [...lines, ""], deps);
  expect(await from.store.leases.holder(id)).toBeUndefined();
  await from.store.leases.acquire(id, sampleOwner("host_b"), MINUTE);
});

test("there is nothing to export of a session that does not exist or was deleted", async () => {
  await using from = await openStore();
  await archiveOf(from.store, { record, events: sampleMessages(2) });
  const { fence } = await from.store.leases.acquire(record.id, sampleOwner("host_b"), MINUTE);
  await from.store.deleteSession(record.id, fence);
  for (const id of ["sesn_x", record.id])
    await expect(exportSession(from.store, id).next()).rejects.toMatchObject({ code: "not_found" });
});

type Lines = readonly string[];
/** What is done to an archive of five events, and what is said about which line. */
const BAD: readonly { what: string; line: number; problem: RegExp; change: (lines: Lines) => Lines }[] = [
  { what: "an empty archive", line: 1, problem: /empty/, change: () => [] },
  { what: "a file of another kind", line: 1, problem: /not valid JSON/, change: () => ["Dear reader,"] },
  { what: "no header", line: 1, problem: /capstan: .*version 1/, change: (lines) => lines.slice(1) },
  { what: "a later format", line: 1, problem: /capstan: .*version 1/, change: edit(0, '"capstan":1', '"capstan":2') },
  { what: "a header without a head", line: 1, problem: /head/, change: edit(0, /,"head":5/, "") },
  { what: "an unknown field", line: 1, problem: /more/, change: edit(0, '"head":5', '"head":5,"more":1') },
  { what: "a bad agent", line: 1, problem: /session\.agent\.model/, change: edit(0, /"model":"[^"]+"/, '"model":7') },
  { what: "a line that was cut", line: 3, problem: /not valid JSON/, change: (lines) => lines.with(2, '{"seq":2,"ha') },
  { what: "a line that is no object", line: 3, problem: /expected object/, change: (lines) => lines.with(2, "[]") },
  { what: "an entry without a hash", line: 4, problem: /hash/, change: edit(3, /"hash":"\w+",/, "") },
  { what: "an unknown type", line: 2, problem: /event\.type/, change: edit(1, "user.message", "user.massage") },
  { what: "a bad event", line: 6, problem: /event\.content/, change: edit(5, /"content":\[.*\]/, '"content":"hi"') },
  { what: "an altered event", line: 3, problem: /does not match/, change: edit(2, "message 1", "message 9") },
  { what: "an altered hash", line: 3, problem: /does not match/, change: edit(2, /"hash":"\w/, '"hash":"x') },
  { what: "another session's id", line: 2, problem: /does not match/, change: edit(0, "sesn_old", "sesn_new") },
  { what: "a missing event", line: 3, problem: /expected 2, found 3/, change: (lines) => lines.toSpliced(2, 1) },
  {
    what: "a repeated event",
    line: 4,
    problem: /expected 3, found 2/,
    change: (lines) => lines.toSpliced(2, 0, lines[2] ?? ""),
  },
  { what: "a cut end", line: 6, problem: /4 of 5 events/, change: (lines) => lines.slice(0, -1) },
  { what: "a header alone", line: 2, problem: /0 of 5 events/, change: (lines) => lines.slice(0, 1) },
  { what: "an event too many", line: 7, problem: /after the last one/, change: (lines) => [...lines, lines[5] ?? ""] },
];

test.for(BAD)("$what is refused by its line, and nothing is stored", async ({ line, problem, change }) => {
  await using from = await openStore();
  await using to = await openStore();
  const lines = change(await archiveOf(from.store, { record, events: sampleMessages(5) }));
  await expect(importSession(to.store, lines, deps)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(`Line ${line} of the archive`),
    data: { line, problem: expect.stringMatching(problem) },
  });
  expect(await to.store.sessions()).toEqual([]);
});

test("an import for which there is no room leaves no session", async () => {
  await using from = await openStore();
  const lines = await archiveOf(from.store, { record, events: sampleMessages(3_000) });
  await using directory = await temporaryDirectory();
  const database = new Database({ path: join(directory.path, "capstan.db") });
  migrate(database);
  await using store = storeIn(database, { clock });
  // Room for the first batches, not for all.
  database.exec("PRAGMA max_page_count = 150");
  await expect(importSession(store, lines, deps)).rejects.toMatchObject({ code: "store_full" });
  expect(await store.sessions()).toEqual([]);
});

test("an imported session goes on with its whole history", async () => {
  const worker = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });
  await using t = await testHost((request) =>
    request.last.includes("Use the shell") && request.toolResults.length === 0
      ? { blocks: [text("Looking."), toolUse("Bash", { command: "echo tool-says-$((40+2))" })] }
      : say(`answer ${request.index}`),
  );
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("Use the shell.").result();
  await session.close();
  await using store = await openSqliteStore({ path: join(t.home, "capstan.db"), clock });
  const id = await importSession(store, exportSession(store, session.id), deps);

  const imported = await t.host.resumeSession(id);
  await imported.send("Go on.").result();
  const seen = t.model.requests.at(-1)?.transcript;
  for (const part of ["Use the shell.", "Looking.", "echo tool-says-", "tool-says-42", "answer 1", "Go on."])
    expect(seen).toContain(part);
  // The CLI has files of its own, which are written from the log; the direct engine reads nothing else.
  const started = ofType(await t.host.read(id), "capstan.process_started");
  expect(started.at(-1)?.history).toBe(TEST_ENGINE === "claude" ? "reseeded" : "resumed");
});

test.each(["copy", "in-place"] as const)(
  "an imported session has its files in place, and its own: %s",
  async (kind) => {
    const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });
    await using t = await testHost(obedient);
    const workspace = kind === "copy" ? { kind, mounts: [{ source: ".", target: "." }] } : { kind };
    const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment: { workspace } });
    await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
    await session.close();
    await using store = await openSqliteStore({ path: join(t.home, "capstan.db"), clock });
    const id = await importSession(store, exportSession(store, session.id), deps);

    expect(await t.host.files.diff(id)).toEqual({ files: [], steps: [] });
    const imported = await t.host.resumeSession(id);
    expect(imported.state.files).toEqual({ calls: [] });
    await imported.send(order(["Bash", { command: "echo 2 > b" }])).result();
    expect(JSON.stringify(t.model.requests.at(-1)?.body.system)).not.toContain("holds copies");
    expect((await t.host.files.diff(id)).files).toMatchObject([{ path: "b", kind: "added" }]);
    await t.host.files.rewind(id, { to: "start" });
    expect(existsSync(join(t.cwd, "b"))).toBe(false);
  },
);

function edit(index: number, what: string | RegExp, by: string): (lines: Lines) => Lines {
  return (lines) => lines.with(index, (lines[index] ?? "").replace(what, by));
}

/** Stores a session and gives its archive. */
async function archiveOf(
  store: Store,
  { record, events }: { readonly record: SessionRecord; readonly events: readonly SessionEvent[] },
): Promise<Lines> {
  await store.createSession(record);
  const lease = await store.leases.acquire(record.id, sampleOwner("host_a"), MINUTE);
  await store.append(record.id, { after: 0, fence: lease.fence, events });
  await store.leases.release(lease);
  return Array.fromAsync(exportSession(store, record.id));
}

async function openStore(): Promise<AsyncDisposable & { readonly store: Store }> {
  const directory = await temporaryDirectory();
  const store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock });
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}
