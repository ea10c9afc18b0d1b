import { chmod, copyFile, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { auditKey } from "../../src/app/audit/audit-key.ts";
import { recordReset } from "../../src/store/sqlite/audit/reset.ts";
import { restoreStore } from "../../src/store/sqlite/file/restore.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { STORE_V2, storeV2Content } from "../fixtures/make-store-v2.ts";
import { openAudited, turn } from "./audited-store.ts";
import type { AuditWriterTask } from "./audit-writer.ts";
import { type Program, start } from "./program.ts";
import { MINUTE, NOON, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const clock = { now: () => NOON };

test("a key is made at the first use, private, and nothing is made before", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using open = await store.open();
  await open.sessions();
  expect(await readdir(directory.path)).not.toContain("keys");
  await open.createSession(sampleSession("sesn_1"));
  expect((await stat(store.key.path)).mode & 0o777).toBe(0o600);
  expect(await readFile(store.key.path, "utf8")).toContain("PRIVATE KEY");
  expect((await readdir(dirname(store.key.path))).toSorted()).toEqual(["audit-key.pem", "audit-key.pem.head"]);
});

test("a turn is signed when it ends, and what comes after it is told to be unsigned", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  const open = await store.open();
  const fence = await turn(open, "sesn_1");
  expect((await store.verify()).sessions).toEqual([
    { session_id: "sesn_1", status: "ok", events: 5, unsigned: 0, erased: false },
  ]);
  await open.append("sesn_1", { after: 5, fence, events: sampleMessages(2) });
  expect(await store.verify()).toMatchObject({ sound: true, sessions: [{ status: "ok", events: 7, unsigned: 2 }] });
  await open[Symbol.asyncDispose]();
  expect(await store.verify()).toMatchObject({ sound: true, sessions: [{ events: 7, unsigned: 0 }] });
});

test("a long turn is signed on its way", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using open = await store.open();
  await open.createSession(sampleSession("sesn_1"));
  const { fence } = await open.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  for (let after = 0; after < 1_200; after += 100)
    await open.append("sesn_1", { after, fence, events: sampleMessages(100) });
  expect((await store.verify()).sessions).toMatchObject([{ status: "ok", events: 1_200, unsigned: 200 }]);
});

test("a deleted session is sound, and so is one that never had an event", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using open = await store.open();
  await open.createSession(sampleSession("sesn_empty"));
  await open.deleteSession("sesn_gone", await turn(open, "sesn_gone"));
  expect(await store.verify()).toMatchObject({
    sound: true,
    sessions: [
      { session_id: "sesn_empty", events: 0, erased: false },
      { session_id: "sesn_gone", events: 5, erased: true },
    ],
  });
});

test("a store of an earlier version is sound and is signed from its next write on", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await copyFile(STORE_V2, store.path);
  const { session, deletedId, events } = storeV2Content();
  await (await store.open())[Symbol.asyncDispose]();
  expect(await store.verify()).toMatchObject({ sound: true, seals: 0 });
  await using open = await store.open();
  await open.createSession(sampleSession("sesn_new"));
  const { sound, sessions } = await store.verify();
  expect(sound).toBe(true);
  expect(Object.fromEntries(sessions.map(({ session_id: id, unsigned }) => [id, unsigned]))).toEqual({
    [session.id]: 0,
    [deletedId]: 0,
    sesn_new: 0,
  });
  expect(sessions.find(({ session_id: id }) => id === session.id)?.events).toBe(events.length);
});

test("a lost key is never replaced by itself: reading goes on, writing says what to do", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using first = await store.open();
  await turn(first, "sesn_1");
  await first[Symbol.asyncDispose]();
  await rename(store.key.path, `${store.key.path}.elsewhere`);
  await using open = await store.open();
  expect(await open.head("sesn_1")).toBe(5);
  await expect(open.createSession(sampleSession("sesn_2"))).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringMatching(/audit-key\.pem is missing.*CAPSTAN_AUDIT_KEY_FILE.*capstan audit accept/) as string,
  });
  expect(await open.session("sesn_2")).toBeUndefined();
  expect(await readdir(dirname(store.key.path))).not.toContain("audit-key.pem");
  expect((await store.verify()).findings).toMatchObject([{ kind: "key" }]);
  await rename(`${store.key.path}.elsewhere`, store.key.path);
  await open.createSession(sampleSession("sesn_2"));
  expect((await store.verify()).sound).toBe(true);
});

test("another key in the place of the store's is refused and found", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using first = await store.open();
  await turn(first, "sesn_1");
  await first[Symbol.asyncDispose]();
  await rm(store.key.path);
  const other = auditKey(join(directory.path, "other.pem")).create();
  await copyFile(join(directory.path, "other.pem"), store.key.path);
  await using open = await store.open();
  await expect(turn(open, "sesn_1")).rejects.toThrow(new RegExp(`${other.id}.*is not the one that signed this store`));
  expect((await store.verify()).findings).toMatchObject([{ kind: "key", problem: expect.any(String) as string }]);
});

test.for(["", "{", '{"seq":-1,"hash":""}'])("an anchor that cannot be read is told: %j", async (text) => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using open = await store.open();
  await turn(open, "sesn_1");
  await open[Symbol.asyncDispose]();
  await writeFile(`${store.key.path}.head`, text);
  expect(() => store.key.anchor()).toThrow(/audit-key\.pem\.head.*capstan audit accept/);
  recordReset({ path: store.path, clock, key: store.key }, { kind: "accepted", reason: "disk error" });
  expect(await store.verify()).toMatchObject({ sound: true, notes: [expect.stringContaining("disk error") as string] });
});

test("a lost anchor is found and is not made anew by itself", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  for (const _ of [1, 2]) {
    await using open = await store.open();
    await turn(open, "sesn_1");
    await open[Symbol.asyncDispose]();
    await rm(`${store.key.path}.head`, { force: true });
  }
  expect((await store.verify()).findings).toMatchObject([{ kind: "key", remedy: expect.any(String) as string }]);
});

test("after a lost key was accepted, a new one goes on and the old signatures still count", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using first = await store.open();
  await turn(first, "sesn_1");
  await first[Symbol.asyncDispose]();
  const old = store.key.load()?.id ?? "";
  await rm(store.key.path);
  recordReset({ path: store.path, clock, key: store.key }, { kind: "accepted", reason: "the old disk" });
  await using open = await store.open();
  await turn(open, "sesn_1");
  const report = await store.verify();
  expect(report).toMatchObject({ sound: true, sessions: [{ events: 10, unsigned: 0 }] });
  expect(report.key_id).not.toBe(old);
  expect(report.notes.join("\n")).toMatch(new RegExp(`accepted: the old disk[^]*${old}`));
});

test("a host that runs while a new key is accepted goes on with it", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using open = await store.open();
  await turn(open, "sesn_1");
  await rm(store.key.path);
  recordReset({ path: store.path, clock, key: auditKey(store.key.path) }, { kind: "accepted", reason: "lost" });
  await turn(open, "sesn_1");
  expect(await store.verify()).toMatchObject({ sound: true, sessions: [{ events: 10, unsigned: 0 }] });
});

test("a restored backup is recorded, and the store goes on from it", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  const backup = join(directory.path, "backup.db");
  {
    await using open = await store.open();
    await turn(open, "sesn_1");
    await open.backup(backup);
    await turn(open, "sesn_1");
    await turn(open, "sesn_2");
  }
  await restoreStore({ path: store.path, from: backup, clock: { now: () => NOON + MINUTE } });
  expect((await store.verify()).findings).toMatchObject([{ kind: "rolled_back" }]);
  recordReset({ path: store.path, clock, key: store.key }, { kind: "restored", reason: backup });
  expect(await store.verify()).toMatchObject({
    sound: true,
    sessions: [{ session_id: "sesn_1", events: 5 }],
    notes: [expect.stringContaining(`restored: ${backup}`) as string],
  });
  await using open = await store.open({ now: () => NOON + MINUTE });
  await turn(open, "sesn_1");
  expect(await store.verify()).toMatchObject({ sound: true, sessions: [{ events: 10, unsigned: 0 }] });
});

test("a key that cannot be written stops the first write and says why", async () => {
  await using directory = await temporaryDirectory();
  const key = auditKey(join(directory.path, "file", "audit-key.pem"));
  await writeFile(join(directory.path, "file"), "");
  await using open = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock, auditKey: key });
  await expect(open.createSession(sampleSession("sesn_1"))).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringContaining("CAPSTAN_AUDIT_KEY_FILE") as string,
  });
  await chmod(join(directory.path, "file"), 0o600);
  expect(await open.sessions()).toEqual([]);
});

test("a process killed between an append and its signature leaves a sound store with an unsigned tail", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  for (const [kill, turns] of [true, false, true].entries()) {
    const sessionId = `sesn_${kill}`;
    await using writer = await startWriter({ directory: directory.path, sessionId, rounds: 1_000_000, turns });
    writer.go();
    const acknowledged = Number(await writer.killAfter(7 + kill));
    const report = await store.verify();
    expect(report.findings).toEqual([]);
    const session = report.sessions.find(({ session_id: id }) => id === sessionId);
    expect(session?.events).toBeGreaterThanOrEqual(acknowledged);
    expect(session?.unsigned).toBe(turns ? 0 : session?.events);
  }
  await using open = await store.open({ now: () => Date.now() + MINUTE });
  await turn(open, "sesn_1");
  expect((await store.verify()).sessions.every(({ unsigned }) => unsigned === 0)).toBe(true);
});

test("processes that begin at once share one key and one register", async () => {
  await using directory = await temporaryDirectory();
  const store = openAudited(directory.path);
  await using stack = new AsyncDisposableStack();
  const tasks = [1, 2, 3].map((number) => ({
    directory: directory.path,
    sessionId: `sesn_${number}`,
    rounds: 20,
    turns: number !== 2,
  }));
  const writers = (await Promise.all(tasks.map(startWriter))).map((writer) => stack.use(writer));
  for (const writer of writers) writer.go();
  await Promise.all(writers.map((writer) => writer.finish()));
  expect(await store.verify()).toMatchObject({
    sound: true,
    sessions: tasks.map(({ sessionId }) => ({ session_id: sessionId, events: 60, unsigned: 0 })),
  });
  expect((await store.verify()).seals).toBe(store.key.anchor()?.seq);
});

function startWriter(task: AuditWriterTask): Promise<Program> {
  return start(new URL("./audit-writer.ts", import.meta.url), [JSON.stringify(task)]);
}
