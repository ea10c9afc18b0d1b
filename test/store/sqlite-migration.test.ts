import { copyFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { PLAIN_SESSION, type Store } from "../../src/core/ports/store.ts";
import { Database } from "../../src/store/sqlite/file/database.ts";
import { migrate, MIGRATIONS } from "../../src/store/sqlite/file/migrations.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { STORE_V2, storeV2Content } from "../fixtures/make-store-v2.ts";
import { STORE_V1, storeV1Content } from "../fixtures/store-v1.ts";
import { agentRecord, PROJECT } from "./registry-samples.ts";
import { sampleMessages, sampleOwner } from "./samples.ts";
import { temporaryDirectory, type TemporaryDirectory } from "./temporary.ts";

const content = storeV1Content();
const { madeAt, leaseMs } = content;
const session = { ...content.session, project: "default" };
/** What the migration made of the events. */
const summary = {
  status: "idle",
  lastActivityAt: madeAt,
  lastSpokenAt: madeAt,
  turns: 1,
  usd: 0.000111,
  firstMessage: "Read notes.md 🚢",
};
const clock = { now: () => madeAt };

/** The step a later version might bring. */
const NEXT_STEP = "ALTER TABLE sessions ADD COLUMN note TEXT";

test("a file of version 1 opens with the current program and holds all it held", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: await copyOfV1(directory), clock });
  await expectContent(store, { ...content, session, summary });
});

test("a file of version 2 opens with the current program and holds all it held", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await copyFile(STORE_V2, path);
  const made = storeV2Content();
  await using store = await openSqliteStore({ path, clock: { now: () => made.madeAt } });
  // That version did not know when a session was last spoken to.
  await expectContent(store, { ...made, summary: { ...made.summary, lastSpokenAt: made.summary.lastActivityAt } });
  expect(await store.session(made.deletedId)).toBeUndefined();
  expect(await store.verify(made.deletedId)).toMatchObject({ ok: true, events: made.events.length });
});

test("sessions of a file of version 1 are listed and found by what their events say", async () => {
  await using directory = await temporaryDirectory();
  const path = await copyOfV1(directory);
  {
    using database = new DatabaseSync(path);
    database.exec(`
      INSERT INTO sessions SELECT 'sesn_empty', created_at + 5, agent, cwd, NULL, NULL, 0, head_hash FROM sessions;
      INSERT INTO sessions SELECT 'sesn_cut', created_at - 60000, agent, cwd, NULL, NULL, 3, head_hash FROM sessions
        WHERE id <> 'sesn_empty';
      INSERT INTO events SELECT 'sesn_cut', seq, event, hash FROM events WHERE seq <= 3;
      UPDATE events SET event = '{"type":"session.status_' WHERE session_id = 'sesn_cut' AND seq = 3;
    `);
  }
  await using store = await openSqliteStore({ path, clock });
  expect(await store.sessions()).toMatchObject([
    { id: "sesn_empty", status: "idle", turns: 0, usd: 0, firstMessage: "", lastActivityAt: madeAt + 5 },
    { id: session.id, ...summary },
    { id: "sesn_cut", status: "running", turns: 1, usd: 0, firstMessage: summary.firstMessage, lastActivityAt: madeAt },
  ]);
  expect(await store.sessions({ status: "running", project: "default" })).toMatchObject([{ id: "sesn_cut" }]);
});

test("a session of version 6 was made from nothing that is stored, and can be listed, changed and deleted", async () => {
  await using directory = await temporaryDirectory();
  const path = await copyOfV1(directory);
  {
    using database = new Database({ path });
    migrate(database, MIGRATIONS.slice(0, 6));
    database.exec(
      "UPDATE sessions SET environment = json_object('variables', json_object('LANG', 'C')), source = '/srv'",
    );
  }
  await using store = await openSqliteStore({ path, clock });
  const environment = parseEnvironment({ variables: { LANG: "C" } });
  const migrated = { ...session, environment, source: "/srv", ...PLAIN_SESSION };
  expect(await store.session(session.id)).toEqual(migrated);
  for (const query of [{ order: "asc" }, { includeArchived: false }, { project: "default", order: "desc" }] as const)
    expect(await store.sessions(query)).toMatchObject([{ id: session.id }]);
  expect(await store.sessions({ agentId: "agent_1" })).toEqual([]);
  const { fence } = await store.leases.acquire(session.id, content.owner, leaseMs);
  const change = { metadata: { a: "b" }, archivedAt: madeAt };
  await store.append(session.id, { after: 10, fence, events: sampleMessages(1), change });
  expect(await store.session(session.id)).toEqual({ ...migrated, ...change });
  await store.deleteSession(session.id, fence);
  expect(await store.verify(session.id)).toEqual({ ok: true, events: 11, erased: true });
});

test("a file of an older version has a registry, which is empty", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: await copyOfV1(directory), clock });
  const { agents, environments, files, keys, webhooks } = store.registry;
  const page = { limit: 9, includeArchived: true, now: madeAt };
  for (const listed of [agents, environments, files]) expect(await listed.list("default", page)).toEqual([]);
  expect(await keys.list()).toEqual([]);
  expect(await webhooks.list("default")).toEqual([]);
  await agents.create(agentRecord("agent_1"));
  expect(await agents.get(PROJECT, "agent_1")).toEqual(agentRecord("agent_1"));
});

test("what the sessions of an older file have cost is in the ledger", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: await copyOfV1(directory), clock });
  const [line, ...others] = await store.ledger.lines({ by: "session" });
  expect(line).toMatchObject({ key: session.id, billing: "paid", requests: 1, usd: summary.usd });
  expect(others).toEqual([]);
  const lease = await store.leases.acquire(session.id, content.owner, leaseMs);
  const verdict = await store.ledger.reserve({
    id: "sevt_new",
    sessionId: session.id,
    fence: lease.fence,
    amounts: { usd: 1, input: 0, output: 0, cache: 0 },
    scopes: [{ scope: "project", limits: { usd: 1 } }],
    agreed: [],
  });
  expect(verdict).toMatchObject({ hit: { spent: summary.usd } });
});

test("a session in a file of version 1 goes on with the lease it had, or with a new one", async () => {
  await using directory = await temporaryDirectory();
  let now = madeAt;
  await using store = await openSqliteStore({ path: await copyOfV1(directory), clock: { now: () => now } });
  const lease = await store.leases.acquire(session.id, content.owner, leaseMs);
  await store.append(session.id, { after: 10, fence: lease.fence, events: sampleMessages(2) });
  now += leaseMs;
  const { fence } = await store.leases.acquire(session.id, sampleOwner("host_b"), leaseMs);
  await store.append(session.id, { after: 12, fence, events: sampleMessages(1) });
  expect(await store.verify(session.id)).toEqual({ ok: true, events: 13 });
});

test("a private backup is made before an older file is migrated", async () => {
  await using directory = await temporaryDirectory();
  const path = await copyOfV1(directory);
  {
    using database = new Database({ path });
    migrate(database, [...MIGRATIONS.slice(0, 1), NEXT_STEP]);
  }
  const backup = `${path}.v1.bak`;
  expect((await readdir(directory.path)).toSorted()).toEqual(["capstan.db", "capstan.db.v1.bak"]);
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  using migrated = new DatabaseSync(path, { readOnly: true });
  expect(migrated.prepare("SELECT note, title FROM sessions").get()).toEqual({ note: null, title: session.title });
  await using store = await openSqliteStore({ path: backup, clock });
  await expectContent(store, { ...content, session, summary });
});

test("a migration that fails leaves the file as it was", async () => {
  await using directory = await temporaryDirectory();
  const path = await copyOfV1(directory);
  {
    using database = new Database({ path });
    const steps = [...MIGRATIONS.slice(0, 1), NEXT_STEP, "DROP TABLE no_such_table"];
    expect(() => migrate(database, steps)).toThrow(expect.objectContaining({ code: "store_failed" }));
  }
  await using store = await openSqliteStore({ path, clock });
  await expectContent(store, { ...content, session, summary });
});

test("a fresh file and a current file need no backup", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  for (const _ of ["fresh", "current"]) await (await openSqliteStore({ path, clock }))[Symbol.asyncDispose]();
  expect(await readdir(directory.path)).toEqual(["capstan.db"]);
});

test("a file of a newer version is refused with the next step, and not touched", async () => {
  await using directory = await temporaryDirectory();
  const path = await copyOfV1(directory);
  const newer = MIGRATIONS.length + 1;
  {
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${newer}`);
  }
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({
    code: "store_newer",
    message: expect.stringMatching(/capstan\.db.*Update Capstan/),
  });
  using database = new DatabaseSync(path);
  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: newer });
});

test("a database of another program is refused and not touched", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "other.db");
  using database = new DatabaseSync(path);
  database.exec("CREATE TABLE invoices (id INTEGER PRIMARY KEY)");
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("another program"),
  });
  expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "invoices" }]);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
});

async function copyOfV1(directory: TemporaryDirectory): Promise<string> {
  const path = join(directory.path, "capstan.db");
  await copyFile(STORE_V1, path);
  return path;
}

type Content = Omit<ReturnType<typeof storeV2Content>, "summary" | "deletedId"> & { readonly summary: object };

async function expectContent(store: Store, content: Content): Promise<void> {
  const { summary, events, transcripts, owner } = content;
  // Before there were workspaces, sessions worked where they were started.
  const place = { environment: parseEnvironment({}), source: content.session.cwd };
  const session = { ...content.session, ...place, ...PLAIN_SESSION };
  const { id } = session;
  expect(await store.sessions()).toEqual([{ ...session, ...summary }]);
  expect(await store.session(id)).toEqual(session);
  expect((await store.events(id)).map(({ event }) => event)).toEqual(events);
  expect((await store.events(id)).map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(await store.head(id)).toBe(events.length);
  expect(await store.verify(id)).toEqual({ ok: true, events: events.length });
  // A state knows more now than the snapshots of then, and is read from the log again.
  expect(await store.snapshot(id)).toBeUndefined();
  expect(await store.transcripts.paths(id)).toEqual(Object.keys(transcripts).filter((path) => path !== ""));
  for (const [path, entries] of Object.entries(transcripts))
    expect(await store.transcripts.load(id, path)).toEqual(entries);
  expect(await store.leases.holder(id)).toEqual(owner);
}
