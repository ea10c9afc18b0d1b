import { copyFile, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../src/store/sqlite/file/migrations.ts";
import { restoreStore } from "../../src/store/sqlite/file/restore.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { STORE_V1, storeV1Content } from "../fixtures/store-v1.ts";
import { manualClock, MINUTE, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory, type TemporaryDirectory } from "./temporary.ts";

const clock = manualClock();

test("a backup takes the place of the store, which is kept beside it", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  for (const number of [1, 2]) {
    const keptAs = `${path}.before-restore-${number}`;
    expect(await restoreStore({ path, from: backup, clock })).toEqual({ keptAs });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  expect((await readdir(directory.path)).toSorted()).toEqual([
    "backup.db",
    "capstan.db",
    "capstan.db.before-restore-1",
    "capstan.db.before-restore-2",
  ]);
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
  expect(await sessionsIn(`${path}.before-restore-1`)).toEqual(["sesn_backed_up", "sesn_newer"]);
  await using store = await openSqliteStore({ path, clock });
  expect(await store.verify("sesn_backed_up")).toEqual({ ok: true, events: 3 });
});

test("what a killed process left in the write-ahead log is kept, and does not get into the restored store", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  await using elsewhere = await temporaryDirectory();
  {
    await using store = await openSqliteStore({ path, clock });
    await store.createSession(sampleSession("sesn_in_wal"));
    // Files as they are at this moment, as a kill would leave them.
    for (const suffix of ["", "-wal"]) await copyFile(path + suffix, join(elsewhere.path, `capstan.db${suffix}`));
  }
  const killed = join(elsewhere.path, "capstan.db");
  const { keptAs } = await restoreStore({ path: killed, from: backup, clock });
  expect(await sessionsIn(killed)).toEqual(["sesn_backed_up"]);
  expect(await sessionsIn(keptAs ?? "")).toEqual(["sesn_backed_up", "sesn_in_wal", "sesn_newer"]);
});

test("a backup is restored where there is no store yet", async () => {
  await using directory = await temporaryDirectory();
  const { backup } = await storeAndBackup(directory);
  const path = join(directory.path, "new", "home", "capstan.db");
  expect(await restoreStore({ path, from: backup, clock })).toEqual({ keptAs: undefined });
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
});

test("a file that is no store any more is replaced and kept, and nothing stays beside the new one", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  await writeFile(path, "This is a letter, not a database. ".repeat(400));
  await writeFile(`${path}-wal`, "torn");
  const { keptAs } = await restoreStore({ path, from: backup, clock });
  expect(await readdir(directory.path)).not.toContain("capstan.db-wal");
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
  expect(await readFile(keptAs ?? "", "utf8")).toContain("a letter");
});

test("a store that is damaged inside is replaced, once nobody has it open", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  await overwritePage(path, pageOf(path, "leases"));
  {
    await using _open = await openSqliteStore({ path, clock });
    await expect(restoreStore({ path, from: backup, clock })).rejects.toMatchObject({ code: "store_locked" });
  }
  await restoreStore({ path, from: backup, clock });
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
});

test("a store of a newer version is replaced", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  execute(path, "PRAGMA user_version = 999");
  await restoreStore({ path, from: backup, clock });
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
});

test("a backup of an older version is restored and migrated when it is opened", async () => {
  await using directory = await temporaryDirectory();
  const { path } = await storeAndBackup(directory);
  await restoreStore({ path, from: STORE_V1, clock });
  expect(await sessionsIn(path)).toEqual([storeV1Content().session.id]);
});

test("nothing is restored while a session is driven, and its holder is named", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  {
    await using store = await openSqliteStore({ path, clock });
    await store.leases.acquire("sesn_newer", sampleOwner("host_b"), MINUTE);
  }
  const before = await readdir(directory.path);
  await expect(restoreStore({ path, from: backup, clock })).rejects.toMatchObject({
    code: "session_busy",
    message: expect.stringMatching(/sesn_newer.*4711.*build-7.*host_b/),
    data: { holder: sampleOwner("host_b") },
  });
  expect(await readdir(directory.path)).toEqual(before);
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up", "sesn_newer"]);
  const later = { now: () => clock.now() + MINUTE };
  await restoreStore({ path, from: backup, clock: later });
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up"]);
});

test("nothing is restored while anyone has the store open", async () => {
  await using directory = await temporaryDirectory();
  const { path, backup } = await storeAndBackup(directory);
  await using store = await openSqliteStore({ path, clock });
  await expect(restoreStore({ path, from: backup, clock })).rejects.toMatchObject({
    code: "store_locked",
    message: expect.stringMatching(/capstan\.db is open.*Stop every Capstan/),
  });
  await store.createSession(sampleSession("sesn_after"));
  expect(await sessionsIn(path)).toEqual(["sesn_after", "sesn_backed_up", "sesn_newer"]);
});

const UNUSABLE: readonly {
  what: string;
  code: string;
  message: RegExp;
  make: (file: string) => Promise<void> | void;
}[] = [
  { what: "no file", code: "not_found", message: /does not exist/, make: () => {} },
  {
    what: "an empty file",
    code: "store_failed",
    message: /not a Capstan store/,
    make: (file) => writeFile(file, ""),
  },
  {
    what: "no database",
    code: "store_corrupt",
    message: /not a database/,
    make: (file) => writeFile(file, "a letter".repeat(999)),
  },
  {
    what: "a database of another program",
    code: "store_failed",
    message: /not a Capstan store/,
    make: (file) => execute(file, "CREATE TABLE invoices (id INTEGER PRIMARY KEY)"),
  },
  {
    what: "a store of a newer version",
    code: "store_newer",
    message: /newer Capstan.*Update Capstan/,
    make: async (file) => {
      await copyFile(STORE_V1, file);
      execute(file, `PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    },
  },
  {
    what: "a damaged store",
    code: "store_corrupt",
    message: /is damaged|malformed/,
    make: async (file) => {
      await copyFile(STORE_V1, file);
      await overwritePage(file, pageOf(file, "events"));
    },
  },
  {
    what: "half a store",
    code: "store_corrupt",
    message: /is damaged|malformed/,
    make: async (file) => writeFile(file, (await readFile(STORE_V1)).subarray(0, 20_000)),
  },
];

test.for(UNUSABLE)("$what is refused with the next step, and the store stays", async ({ make, code, message }) => {
  await using directory = await temporaryDirectory();
  const { path } = await storeAndBackup(directory);
  const from = join(directory.path, "bad.db");
  await make(from);
  const before = await readdir(directory.path);
  const refused = restoreStore({ path, from, clock });
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  await expect(refused).rejects.toThrow(/bad\.db cannot be restored/);
  expect(await readdir(directory.path)).toEqual(before);
  expect(await sessionsIn(path)).toEqual(["sesn_backed_up", "sesn_newer"]);
});

test("a database of another program is not replaced", async () => {
  await using directory = await temporaryDirectory();
  const { backup } = await storeAndBackup(directory);
  const path = join(directory.path, "other.db");
  execute(path, "CREATE TABLE invoices (id INTEGER PRIMARY KEY)");
  const before = await readdir(directory.path);
  await expect(restoreStore({ path, from: backup, clock })).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("another program"),
  });
  expect(await readdir(directory.path)).toEqual(before);
});

/** A closed store, with one session that is in the backup and one that came later. Nobody drives them any more. */
async function storeAndBackup(directory: TemporaryDirectory): Promise<{ path: string; backup: string }> {
  const path = join(directory.path, "capstan.db");
  const backup = join(directory.path, "backup.db");
  await using store = await openSqliteStore({ path, clock });
  await store.createSession(sampleSession("sesn_backed_up"));
  const lease = await store.leases.acquire("sesn_backed_up", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_backed_up", { after: 0, fence: lease.fence, events: sampleMessages(3) });
  await store.leases.release(lease);
  await store.backup(backup);
  await store.createSession(sampleSession("sesn_newer"));
  return { path, backup };
}

async function sessionsIn(path: string): Promise<readonly string[]> {
  await using store = await openSqliteStore({ path, clock });
  return (await store.sessions()).map(({ id }) => id).toSorted();
}

function execute(path: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

function pageOf(path: string, table: string): number {
  using database = new DatabaseSync(path);
  return Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.["rootpage"]);
}

async function overwritePage(path: string, page: number): Promise<void> {
  const size = 4096;
  await using file = await open(path, "r+");
  await file.write(Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size);
}
