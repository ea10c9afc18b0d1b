import { chmod, mkdir, open, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Lease, Store } from "../../src/core/ports/store.ts";
import { Database } from "../../src/store/sqlite/file/database.ts";
import { migrate } from "../../src/store/sqlite/file/migrations.ts";
import { openSqliteStore, storeIn } from "../../src/store/sqlite/store.ts";
import { manualClock, MINUTE, sampleMessage, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const clock = manualClock();

test("the directory and every file of the store are private", async () => {
  await using temporary = await temporaryDirectory();
  const directory = join(temporary.path, "home", "capstan");
  await using store = await openSqliteStore({ path: join(directory, "capstan.db"), clock });
  await drivenSession(store);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const files = await readdir(directory);
  expect(files.toSorted()).toEqual(["capstan.db", "capstan.db-shm", "capstan.db-wal"]);
  for (const file of files) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
});

test("what was stored is there after closing and opening again", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  const before = await openSqliteStore({ path, clock });
  const { fence } = await drivenSession(before);
  const stored = await before.append("sesn_1", { after: 0, fence, events: sampleMessages(3) });
  await before[Symbol.asyncDispose]();
  await using after = await openSqliteStore({ path, clock });
  expect(await after.events("sesn_1")).toEqual(stored);
  expect(await readdir(temporary.path)).toContain("capstan.db");
});

test("a closed store says that it is closed, and may be closed twice", async () => {
  await using temporary = await temporaryDirectory();
  const store = await openSqliteStore({ path: join(temporary.path, "capstan.db"), clock });
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  const closed = { code: "store_failed", message: expect.stringMatching(/capstan\.db is closed/) };
  await expect(store.createSession(sampleSession("sesn_1"))).rejects.toMatchObject(closed);
  await expect(store.events("sesn_1")).rejects.toMatchObject(closed);
  await expect(store.leases.holder("sesn_1")).rejects.toMatchObject(closed);
});

test("a file that is no database is refused, named, and left alone", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  await writeFile(path, "This is a letter, not a database. ".repeat(400));
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({
    code: "store_corrupt",
    message: expect.stringMatching(/capstan\.db.*restore a backup/),
  });
  expect((await stat(path)).size).toBe(34 * 400);
});

test("damage inside the file is reported as such", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  await (await openSqliteStore({ path, clock }))[Symbol.asyncDispose]();
  {
    const pageSize = 4096;
    await using file = await open(path, "r+");
    const { size } = await file.stat();
    await file.write(Buffer.alloc(size - pageSize, 0xa5), 0, size - pageSize, pageSize);
  }
  const use = async (): Promise<void> => {
    await using store = await openSqliteStore({ path, clock });
    await store.createSession(sampleSession("sesn_1"));
  };
  await expect(use()).rejects.toMatchObject({ code: "store_corrupt" });
});

test("an event whose text was made unreadable is reported as damage", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock });
  const { fence } = await drivenSession(store);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(2) });
  using intruder = new DatabaseSync(path);
  intruder.exec("UPDATE events SET event = 'x' WHERE seq = 2");
  await expect(store.events("sesn_1")).rejects.toMatchObject({ code: "store_corrupt" });
  expect(await store.verify("sesn_1")).toMatchObject({ ok: false, seq: 2 });
});

test("a full disk refuses the batch as a whole; the store goes on when there is room", async () => {
  await using temporary = await temporaryDirectory();
  const database = new Database({ path: join(temporary.path, "capstan.db") });
  migrate(database);
  await using store = storeIn(database, { clock });
  const { fence } = await drivenSession(store);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(3) });

  database.exec("PRAGMA max_page_count = 20");
  const large = { after: 3, fence, events: [sampleMessage("small"), sampleMessage("x".repeat(200_000))] };
  await expect(store.append("sesn_1", large)).rejects.toMatchObject({
    code: "store_full",
    message: expect.stringMatching(/capstan\.db.*Free some space/),
    retryable: true,
  });
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 3 });
  await store.append("sesn_1", { after: 3, fence, events: sampleMessages(1) });

  database.exec("PRAGMA max_page_count = 1000");
  await store.append("sesn_1", { ...large, after: 4 });
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 6 });
});

test("a store that another process keeps locked says so, and works once it is free", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock, busyTimeoutMs: 1 });
  const { fence } = await drivenSession(store);
  using other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const batch = { after: 0, fence, events: sampleMessages(1) };
  await expect(store.append("sesn_1", batch)).rejects.toMatchObject({ code: "store_locked", retryable: true });
  expect(await store.events("sesn_1")).toEqual([]);
  other.exec("COMMIT");
  await store.append("sesn_1", batch);
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 1 });
});

test("a path that cannot hold a store is named together with the next step", async () => {
  await using temporary = await temporaryDirectory();
  const at = (...names: string[]) => join(temporary.path, ...names);
  await writeFile(at("file"), "");
  await mkdir(at("directory"));
  await mkdir(at("locked"), { mode: 0o500 });
  await writeFile(at("unreadable.db"), "");
  await chmod(at("unreadable.db"), 0o000);
  await (await openSqliteStore({ path: at("readonly.db"), clock }))[Symbol.asyncDispose]();
  await chmod(at("readonly.db"), 0o444);
  await chmod(temporary.path, 0o555);
  const unusable = [
    at("file", "capstan.db"),
    at("directory"),
    at("locked", "capstan.db"),
    at("unreadable.db"),
    at("readonly.db"),
  ];
  for (const path of unusable)
    await expect(withoutPrivileges(() => openSqliteStore({ path, clock }))).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringMatching(new RegExp(`${path}.*permission.*CAPSTAN_HOME`)),
    });
  await chmod(temporary.path, 0o700);
});

/** Root may write everywhere, and these tests may run as root. */
async function withoutPrivileges<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.("nobody");
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

async function drivenSession(store: Store): Promise<Lease> {
  await store.createSession(sampleSession("sesn_1"));
  return store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
}
