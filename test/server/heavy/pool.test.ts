import { afterAll, beforeAll, expect, test } from "vitest";
import { type PoolLimits, WorkerPool } from "../../../src/app/heavy/pool.ts";
import { heavyPorts } from "../../../src/app/heavy/ports.ts";
import { openReader, openStore } from "../../../src/app/open-store.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { exportSession } from "../../../src/runtime/files/export-session.ts";
import type { HeavyCaller } from "../../../src/server/heavy/slots.ts";
import { MINUTE, sampleMessages, sampleOwner, sampleSession } from "../../store/samples.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { until } from "../../support/until.ts";

const ID = "sesn_long";
const directory = temporaryDirectory();
let store: Store;
beforeAll(async () => {
  store = await openStore(directory.path, {});
  await store.createSession(sampleSession(ID, { title: "Straße", project: "/srv/a" }));
  const { fence } = await store.leases.acquire(ID, sampleOwner("host_1"), MINUTE);
  await store.append(ID, { after: 0, events: sampleMessages(450), fence });
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const asking = (signal = new AbortController().signal): HeavyCaller => ({ key: "key_1", signal });
const poolWith = (limits: Partial<PoolLimits> = {}): WorkerPool =>
  new WorkerPool({ home: directory.path, environment: {} }, limits);

test("threads return the same as the host, and are reused", async () => {
  await using pool = poolWith();
  const ports = heavyPorts(pool);
  const decoder = new TextDecoder();
  let archive = "";
  for await (const bytes of ports.archive(ID, asking())) archive += decoder.decode(bytes, { stream: true });
  const lines = await Array.fromAsync(exportSession(store, ID));
  expect(archive.split("\n")).toEqual([...lines, ""]);
  const found = await ports.findSessions({ query: { project: "/srv/a", search: "STRASSE" }, limit: 10 }, asking());
  expect(found).toEqual([]);
  const named = await ports.findSessions({ query: { search: "straß" }, named: "long", limit: 10 }, asking());
  expect(named).toEqual(await store.sessions());
  const replayed = await ports.replayPolicy({ permissions: { allow: ["Bash"] } }, asking());
  expect(JSON.parse(decoder.decode(replayed))).toEqual({ data: [], skipped: 0 });
  expect(await ports.audit.verify({ project: "/srv/a" }, asking())).toMatchObject({
    sound: true,
    sessions: [{ session_id: ID, status: "ok" }],
  });
  expect(await ports.audit.verify({ project: "/srv/b" }, asking())).toMatchObject({ sound: true, sessions: [] });
  expect(pool.threads).toBe(1);
});

test("an error keeps its code, and the thread stays usable", async () => {
  await using pool = poolWith();
  const ports = heavyPorts(pool);
  const none = { code: "not_found", message: expect.stringContaining("sesn_none") };
  await expect(ports.archive("sesn_none", asking())[Symbol.asyncIterator]().next()).rejects.toMatchObject(none);
  const mistyped = ports.replayPolicy({ permissions: { allow: ["Bsh"] } }, asking());
  await expect(mistyped).rejects.toMatchObject({ name: "CapstanError", message: expect.stringContaining("Bsh") });
  expect(pool.threads).toBe(1);
});

test("a job that exceeds memory or time fails alone, and the next one runs", async () => {
  await using small = poolWith({ heapMb: 8 });
  const query = { query: {}, limit: 1 };
  const refused = { code: "too_large", message: expect.stringContaining("Narrow it") };
  await expect(small.run("findSessions", query, asking())).rejects.toMatchObject({
    ...refused,
    data: { limit: "memory" },
  });
  expect(small.threads).toBe(0);
  await using hasty = poolWith({ jobMs: 1 });
  await expect(hasty.run("findSessions", query, asking())).rejects.toMatchObject({
    ...refused,
    data: { limit: "time" },
  });
  expect(hasty.threads).toBe(0);
});

test("disconnecting ends the job; an idle thread ends after a while", async () => {
  await using pool = poolWith({ idleMs: 20 });
  const gone = new AbortController();
  const job = pool.run("verifyLogs", { project: "/srv/a" }, asking(gone.signal));
  await until(
    () => pool.threads,
    (threads) => threads === 1,
  );
  gone.abort(new Error("left"));
  await expect(job).rejects.toThrow("left");
  expect(pool.threads).toBe(0);
  expect(await pool.run("findSessions", { query: {}, limit: 1 }, asking())).toHaveLength(1);
  await until(
    () => pool.threads,
    (threads) => threads === 0,
  );
});

test("a reader writes nothing", async () => {
  await using reader = openReader(directory.path);
  expect(await reader.sessions()).toEqual(await store.sessions());
  await expect(reader.createSession(sampleSession("sesn_new", {}))).rejects.toMatchObject({ code: "store_failed" });
  expect(await store.sessions()).toHaveLength(1);
});
