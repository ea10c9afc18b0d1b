import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Store } from "../../src/core/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MADE_FROM } from "./contract/under-test.ts";
import { startWriter } from "./program.ts";
import { agentRecord, deliveryRecord, keyRecord, PROJECT, webhookRecord } from "./registry-samples.ts";
import { manualClock, MINUTE, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const clock = manualClock();

test("a backup is a private store of its own with all that was stored", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "home", "capstan.db"), clock });
  await fillStore(store);
  const target = join(directory.path, "backup.db");
  await store.backup(target);
  expect((await readdir(directory.path)).toSorted()).toEqual(["backup.db", "home"]);
  expect((await stat(target)).mode & 0o777).toBe(0o600);

  const before = { sessions: await store.sessions(), events: await store.events("sesn_1") };
  await store.createSession(sampleSession("sesn_later"));
  await using copy = await openSqliteStore({ path: target, clock });
  expect({ sessions: await copy.sessions(), events: await copy.events("sesn_1") }).toEqual(before);
  expect(await copy.verify("sesn_1")).toEqual({ ok: true, events: 3 });
  expect(await copy.transcripts.load("sesn_1", "")).toEqual([{ type: "user", uuid: "a" }]);
  expect(await copy.registry.agents.get(PROJECT, "agent_1")).toEqual(agentRecord("agent_1"));
  expect(await copy.registry.keys.list()).toEqual([keyRecord("key_1")]);
  expect(await copy.registry.webhooks.due(clock.now(), { limit: 9, limitEach: 9, except: [], leaseMs: 0 })).toEqual([
    deliveryRecord("dlv_1"),
  ]);
});

test("a backup has its name only when it is whole", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "home", "capstan.db"), clock });
  const target = join(directory.path, "backup.db");
  const going = store.backup(target);
  // A process that is killed now leaves no empty file that looks like a backup.
  expect(existsSync(target)).toBe(false);
  await going;
  expect(existsSync(target)).toBe(true);
});

test("a backup can be read where nothing may be written", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock });
  await fillStore(store);
  const shelf = join(directory.path, "shelf");
  await mkdir(shelf);
  await store.backup(join(shelf, "backup.db"));
  await chmod(shelf, 0o500);
  {
    using copy = new DatabaseSync(join(shelf, "backup.db"), { readOnly: true });
    expect(copy.prepare("SELECT count(*) AS events FROM events").get()).toEqual({ events: 3 });
  }
  expect(await readdir(shelf)).toEqual(["backup.db"]);
  await chmod(shelf, 0o700);
});

test("backups made while another process writes are whole, and up to date when they began", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock });
  await using writer = await startWriter({ path, sessionId: "sesn_w", hostId: "host_w", rounds: 1_000_000, batch: 50 });
  writer.go();
  for (let number = 0; number < 5; number += 1) {
    const acknowledged = Number(await writer.line());
    const target = join(directory.path, `backup-${number}.db`);
    await store.backup(target);
    await using copy = await openSqliteStore({ path: target, clock });
    const head = await copy.head("sesn_w");
    expect(head).toBeGreaterThanOrEqual(acknowledged);
    expect(head % 50).toBe(0);
    expect(await copy.verify("sesn_w")).toEqual({ ok: true, events: head });
    // It wrote on.
    let line = acknowledged;
    while (line <= head) line = Number(await writer.line());
  }
});

test("a backup overwrites nothing", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock });
  await fillStore(store);
  const target = join(directory.path, "letter.txt");
  await writeFile(target, "Dear reader");
  for (const taken of [target, path, directory.path])
    await expect(store.backup(taken)).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringMatching(new RegExp(`${taken} already.*another path`)),
    });
  expect(await readFile(target, "utf8")).toBe("Dear reader");
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 3 });
});

test("of two backups to one path one is made", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock });
  await fillStore(store);
  const target = join(directory.path, "backup.db");
  const outcomes = await Promise.allSettled([store.backup(target), store.backup(target)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await using copy = await openSqliteStore({ path: target, clock });
  expect(await copy.verify("sesn_1")).toEqual({ ok: true, events: 3 });
});

test("a backup that cannot be made names its path and leaves nothing", async () => {
  await using directory = await temporaryDirectory();
  const store = await openSqliteStore({ path: join(directory.path, "home", "capstan.db"), clock });
  const target = join(directory.path, "missing", "backup.db");
  await expect(store.backup(target)).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining(target),
  });
  await store[Symbol.asyncDispose]();
  await expect(store.backup(join(directory.path, "late.db"))).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("closed"),
  });
  expect(await readdir(directory.path)).toEqual(["home"]);
});

async function fillStore(store: Store): Promise<void> {
  await store.createSession(sampleSession("sesn_1", MADE_FROM));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(3) });
  await store.transcripts.append("sesn_1", "", [{ type: "user", uuid: "a" }]);
  await store.registry.agents.create(agentRecord("agent_1"));
  await store.registry.keys.create(keyRecord("key_1"));
  await store.registry.webhooks.create(webhookRecord("whk_1"));
  await store.registry.webhooks.enqueue([deliveryRecord("dlv_1")]);
}
