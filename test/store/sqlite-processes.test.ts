import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { type Program, start, startWriter } from "./program.ts";
import { MINUTE, sampleMessages, sampleOwner } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const clock = { now: () => Date.now() };

test("processes that open the same fresh files at once do not collide", async () => {
  await using temporary = await temporaryDirectory();
  const paths = Array.from({ length: 60 }, (_, index) => join(temporary.path, `${index}.db`));
  const opener = new URL("./opener.ts", import.meta.url);
  await runTogether(Array.from({ length: 3 }, () => start(opener, paths)));
  for (const path of paths) {
    await using store = await openSqliteStore({ path, clock });
    expect(await store.sessions()).toEqual([]);
  }
});

test("processes that write to one file at once each keep their own log", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "home", "capstan.db");
  const ids = ["sesn_1", "sesn_2", "sesn_3", "sesn_4"];
  await runTogether(
    ids.map((sessionId) => startWriter({ path, sessionId, hostId: `host_${sessionId}`, rounds: 50, batch: 7 })),
  );
  await using store = await openSqliteStore({ path, clock });
  for (const id of ids) expect(await store.verify(id)).toEqual({ ok: true, events: 350 });
});

test("processes that take turns at one session leave one whole log", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  const hosts = ["host_a", "host_b", "host_c"];
  await runTogether(hosts.map((hostId) => startWriter({ path, sessionId: "sesn_1", hostId, rounds: 20, batch: 3 })));
  await using store = await openSqliteStore({ path, clock });
  expect(await store.verify("sesn_1")).toEqual({ ok: true, events: 180 });
});

test("a process killed while it appends leaves a valid log with all it had acknowledged", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  const random = seededRandom(20260101);
  for (let kill = 0; kill < 5; kill += 1) {
    const batch = 1 + Math.floor(random() * 40);
    const sessionId = `sesn_${kill}`;
    await using writer = await startWriter({ path, sessionId, hostId: "host_a", rounds: 1_000_000, batch });
    writer.go();
    const acknowledged = Number(await writer.killAfter(1 + Math.floor(random() * 60)));

    const later = { now: () => Date.now() + MINUTE };
    await using store = await openSqliteStore({ path, clock: later });
    const head = await store.head(sessionId);
    expect(head).toBeGreaterThanOrEqual(acknowledged);
    expect(head % batch).toBe(0);
    expect(await store.verify(sessionId)).toEqual({ ok: true, events: head });
    const { fence } = await store.leases.acquire(sessionId, sampleOwner("host_b"), MINUTE);
    await store.append(sessionId, { after: head, fence, events: sampleMessages(2) });
    expect(await store.verify(sessionId)).toEqual({ ok: true, events: head + 2 });
  }
});

async function runTogether(starting: readonly Promise<Program>[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const programs = (await Promise.all(starting)).map((program) => stack.use(program));
  for (const program of programs) program.go();
  await Promise.all(programs.map((program) => program.finish()));
}

/** mulberry32 */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
