import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { registryContract } from "../contract/registry.ts";
import { type StoreContract, storeContract } from "../contract/store.ts";
import { manualClock, MINUTE, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const contract: StoreContract = {
  name: "SQLite",
  async create(clock) {
    const directory = await temporaryDirectory();
    const path = join(directory.path, "capstan.db");
    const store = await openSqliteStore({ path, clock });
    return {
      store,
      another: () => openSqliteStore({ path, clock }),
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await directory[Symbol.asyncDispose]();
      },
    };
  },
};
storeContract(contract);
registryContract(contract);

/** What someone with write access to the file does to a log of five events, and where the check finds it. */
const TAMPERING = [
  { what: "an altered payload", seq: 3, sql: "UPDATE events SET event = replace(event, '2', '9') WHERE seq = 3" },
  { what: "a payload that only looks the same", seq: 2, sql: "UPDATE events SET event = event || ' ' WHERE seq = 2" },
  {
    what: "an altered hash",
    seq: 5,
    sql: "UPDATE events SET hash = (SELECT hash FROM events WHERE seq = 1) WHERE seq = 5",
  },
  { what: "a removed event", seq: 2, sql: "DELETE FROM events WHERE seq = 2" },
  {
    what: "a removed event whose gap was closed",
    seq: 2,
    sql: "DELETE FROM events WHERE seq = 2; UPDATE events SET seq = seq - 1 WHERE seq = 3; UPDATE events SET seq = seq - 1 WHERE seq = 4",
  },
  {
    what: "two events in each other's place",
    seq: 2,
    sql: "UPDATE events SET seq = 99 WHERE seq = 2; UPDATE events SET seq = 2 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = 99",
  },
  {
    what: "an inserted event",
    seq: 3,
    sql: "UPDATE events SET seq = seq + 10 WHERE seq > 2; UPDATE events SET seq = seq - 9 WHERE seq > 10; INSERT INTO events SELECT session_id, 3, event, hash FROM events WHERE seq = 2",
  },
  {
    what: "an event added at the end",
    seq: 6,
    sql: "INSERT INTO events SELECT session_id, 6, event, hash FROM events WHERE seq = 5",
  },
  { what: "a log cut at the end", seq: 4, sql: "DELETE FROM events WHERE seq >= 4" },
  { what: "an emptied log", seq: 1, sql: "DELETE FROM events" },
  {
    what: "a log cut together with its recorded length",
    seq: 4,
    sql: "DELETE FROM events WHERE seq > 4; UPDATE sessions SET head_seq = 4",
  },
  {
    what: "the log of another session",
    seq: 1,
    sql: "UPDATE sessions SET id = 'sesn_2'; UPDATE events SET session_id = 'sesn_2'",
  },
];

test.for(TAMPERING)("finds $what", async ({ sql, seq }) => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock: manualClock() });
  await store.createSession(sampleSession("sesn_1"));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(5) });
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 5 });

  using intruder = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  intruder.exec(sql);

  const [session] = await store.sessions();
  expect(await store.verify(session?.id ?? "")).toMatchObject({ ok: false, seq, problem: expect.any(String) });
});

test("checks a log of several thousand events", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock: manualClock() });
  await store.createSession(sampleSession("sesn_1"));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(3_000) });
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 3_000 });
});
