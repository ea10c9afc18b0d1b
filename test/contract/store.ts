import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { initialState } from "../../src/core/state.ts";
import type { Lease, Store, TranscriptEntry } from "../../src/core/store.ts";
import {
  manualClock,
  MINUTE,
  NOON,
  sampleMessage,
  sampleMessages,
  sampleOwner,
  sampleSession,
} from "../store/samples.ts";

interface StoreUnderTest extends AsyncDisposable {
  /** Fresh and empty. */
  readonly store: Store;
  /** Another handle on the same data, as a second process would have it. Whoever asks for it closes it. */
  another(): Promise<Store>;
}

export interface StoreContract {
  readonly name: string;
  readonly create: (clock: Clock) => Promise<StoreUnderTest>;
}

/** What core/store.ts means. Every store passes this suite. */
export function storeContract({ name, create }: StoreContract): void {
  describe(`${name} keeps the store contract`, () => {
    sessionTests(create);
    logTests(create);
    snapshotTests(create);
    transcriptTests(create);
    leaseTests(create);
  });
}

type Create = StoreContract["create"];

function sessionTests(create: Create): void {
  describe("sessions", () => {
    test("gives back a session as it was created", async () => {
      await using fresh = await create(manualClock());
      const plain = sampleSession("sesn_1");
      const forked = sampleSession("sesn_2", { title: "Änderung ✓", forkedFrom: { sessionId: "sesn_1", seq: 7 } });
      await fresh.store.createSession(plain);
      await fresh.store.createSession(forked);
      expect(await fresh.store.session("sesn_1")).toEqual(plain);
      expect(await fresh.store.session("sesn_2")).toEqual(forked);
      expect(await fresh.store.session("sesn_3")).toBeUndefined();
    });

    test("lists the newest first, up to the limit", async () => {
      await using fresh = await create(manualClock());
      for (const [id, createdAt] of [
        ["sesn_b", NOON],
        ["sesn_a", NOON + 1],
        ["sesn_c", NOON - 1],
      ] as const)
        await fresh.store.createSession(sampleSession(id, { createdAt }));
      const ids = async (limit?: number) =>
        (await fresh.store.sessions(limit === undefined ? {} : { limit })).map(({ id }) => id);
      expect(await ids()).toEqual(["sesn_a", "sesn_b", "sesn_c"]);
      expect(await ids(2)).toEqual(["sesn_a", "sesn_b"]);
      expect(await fresh.store.sessions()).toHaveLength(3);
    });

    test("refuses a second session with the same id and keeps the first", async () => {
      await using fresh = await create(manualClock());
      await fresh.store.createSession(sampleSession("sesn_1", { title: "first" }));
      const second = fresh.store.createSession(sampleSession("sesn_1", { title: "second" }));
      await expect(second).rejects.toMatchObject({ code: "store_conflict" });
      expect(await fresh.store.session("sesn_1")).toMatchObject({ title: "first" });
    });

    test("refuses to write for a session that does not exist", async () => {
      await using fresh = await create(manualClock());
      const { store } = fresh;
      const unknown = { code: "not_found", message: expect.stringContaining("sesn_x") };
      await expect(store.append("sesn_x", { after: 0, fence: 1, events: [] })).rejects.toMatchObject(unknown);
      await expect(store.verify("sesn_x")).rejects.toMatchObject(unknown);
      await expect(store.saveSnapshot("sesn_x", { seq: 0, state: initialState })).rejects.toMatchObject(unknown);
      await expect(store.transcripts.append("sesn_x", "", [])).rejects.toMatchObject(unknown);
      await expect(store.transcripts.replace("sesn_x", "", [])).rejects.toMatchObject(unknown);
      await expect(store.leases.acquire("sesn_x", sampleOwner("host_a"), MINUTE)).rejects.toMatchObject(unknown);
    });

    test("finds nothing in a session that does not exist", async () => {
      await using fresh = await create(manualClock());
      const { store } = fresh;
      expect(await store.events("sesn_x")).toEqual([]);
      expect(await store.head("sesn_x")).toBe(0);
      expect(await store.snapshot("sesn_x")).toBeUndefined();
      expect(await store.transcripts.load("sesn_x", "")).toEqual([]);
      expect(await store.transcripts.paths("sesn_x")).toEqual([]);
      expect(await store.leases.holder("sesn_x")).toBeUndefined();
    });
  });
}

function logTests(create: Create): void {
  describe("the log", () => {
    test("is empty at first, and valid", async () => {
      await using fresh = await create(manualClock());
      await drivenSession(fresh.store, "sesn_1");
      expect(await fresh.store.head("sesn_1")).toBe(0);
      expect(await fresh.store.events("sesn_1")).toEqual([]);
      expect(await fresh.store.verify("sesn_1")).toEqual({ ok: true, events: 0 });
    });

    test("numbers events from one and returns what every later read returns", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const first = await fresh.store.append("sesn_1", { after: 0, fence, events: sampleMessages(2) });
      const second = await fresh.store.append("sesn_1", { after: 2, fence, events: sampleMessages(1) });
      const all = [...first, ...second];
      expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(all.map(({ event }) => event)).toEqual([...sampleMessages(2), ...sampleMessages(1)]);
      expect(await fresh.store.events("sesn_1")).toEqual(all);
      expect(await fresh.store.head("sesn_1")).toBe(3);
    });

    test("keeps every character of a text", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const events = ["nul \0", "lone \ud800 surrogate", "line \u2028 end", "🚢 \\u0041 \"'", ""].map(sampleMessage);
      await fresh.store.append("sesn_1", { after: 0, fence, events });
      expect((await fresh.store.events("sesn_1")).map(({ event }) => event)).toEqual(events);
      expect(await fresh.store.verify("sesn_1")).toEqual({ ok: true, events: 5 });
    });

    test("gives any range of what any batches appended, in a valid chain", async () => {
      await using fresh = await create(manualClock());
      let made = 0;
      const bound = fc.option(fc.nat(14), { nil: undefined });
      const range = fc.record({ after: bound, upTo: bound, limit: bound });
      const sizes = fc.array(fc.nat(4), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(sizes, fc.array(range), async (batches, ranges) => {
          const id = `sesn_${(made += 1)}`;
          const { fence } = await drivenSession(fresh.store, id);
          const all = [];
          for (const size of batches)
            all.push(...(await fresh.store.append(id, { after: all.length, fence, events: sampleMessages(size) })));
          expect(await fresh.store.verify(id)).toEqual({ ok: true, events: all.length });
          expect(await fresh.store.head(id)).toBe(all.length);
          for (const { after, upTo, limit } of ranges) {
            const wanted = all.slice(after ?? 0, upTo).slice(0, limit);
            const given = {
              ...(after !== undefined && { after }),
              ...(upTo !== undefined && { upTo }),
              ...(limit !== undefined && { limit }),
            };
            expect(await fresh.store.events(id, given)).toEqual(wanted);
          }
        }),
        { numRuns: 30 },
      );
    });

    test("gives the same events in two sessions different hashes", async () => {
      await using fresh = await create(manualClock());
      const hashes = [];
      for (const id of ["sesn_1", "sesn_2"]) {
        const { fence } = await drivenSession(fresh.store, id);
        const stored = await fresh.store.append(id, {
          after: 0,
          fence,
          events: [sampleMessage("a"), sampleMessage("a")],
        });
        hashes.push(...stored.map(({ hash }) => hash));
      }
      expect(new Set(hashes).size).toBe(4);
    });

    test("refuses a batch for another place, and says where the log is", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      await fresh.store.append("sesn_1", { after: 0, fence, events: sampleMessages(3) });
      for (const after of [0, 2, 4])
        await expect(fresh.store.append("sesn_1", { after, fence, events: sampleMessages(1) })).rejects.toMatchObject({
          code: "store_conflict",
          message: expect.stringContaining(`expected ${after}, actual 3`),
          data: { expected: after, actual: 3 },
        });
      expect(await fresh.store.head("sesn_1")).toBe(3);
      expect(await fresh.store.verify("sesn_1")).toEqual({ ok: true, events: 3 });
    });

    test("stores nothing of a batch with an event that cannot be stored", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const impossible = { ...sampleMessage("b"), content: 10n as never };
      const batch = { after: 0, fence, events: [sampleMessage("a"), impossible] };
      await expect(fresh.store.append("sesn_1", batch)).rejects.toMatchObject({ code: "store_failed" });
      expect(await fresh.store.events("sesn_1")).toEqual([]);
      await fresh.store.append("sesn_1", { after: 0, fence, events: sampleMessages(1) });
      expect(await fresh.store.verify("sesn_1")).toEqual({ ok: true, events: 1 });
    });

    test("is shared by all handles, and only one of two writers at one place succeeds", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const batch = { after: 0, fence, events: sampleMessages(2) };
      const outcomes = await Promise.allSettled([fresh.store.append("sesn_1", batch), other.append("sesn_1", batch)]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "store_conflict" },
      });
      expect(await other.events("sesn_1")).toEqual(await fresh.store.events("sesn_1"));
      expect(await other.verify("sesn_1")).toEqual({ ok: true, events: 2 });
    });

    test("takes nothing from a writer without the session's lease", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { store } = fresh;
      const refusal = async (fence: number) =>
        expect(store.append("sesn_1", { after: 0, fence, events: sampleMessages(1) })).rejects.toMatchObject({
          code: "lease_lost",
        });
      await store.createSession(sampleSession("sesn_1"));
      await refusal(0);
      await refusal(1);
      const first = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await refusal(0);
      await refusal(first.fence + 1);
      clock.advance(MINUTE);
      const second = await store.leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await refusal(first.fence);
      await store.leases.release(second);
      await refusal(second.fence);
      expect(await store.events("sesn_1")).toEqual([]);
    });

    test("takes events from a holder whose lease expired while nobody wanted it", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      clock.advance(10 * MINUTE);
      expect(await fresh.store.append("sesn_1", { after: 0, fence, events: sampleMessages(1) })).toHaveLength(1);
    });
  });
}

function snapshotTests(create: Create): void {
  test("keeps the newest snapshot, whatever the order of saving", async () => {
    await using fresh = await create(manualClock());
    const { store } = fresh;
    await store.createSession(sampleSession("sesn_1"));
    expect(await store.snapshot("sesn_1")).toBeUndefined();
    const newer = { seq: 9, state: { ...initialState, turns: 3, usd: 0.125, model: "claude-opus-4-5" } };
    await store.saveSnapshot("sesn_1", { seq: 4, state: initialState });
    await store.saveSnapshot("sesn_1", newer);
    await store.saveSnapshot("sesn_1", { seq: 8, state: initialState });
    expect(await store.snapshot("sesn_1")).toEqual(newer);
    await store.saveSnapshot("sesn_1", { seq: 9, state: initialState });
    expect(await store.snapshot("sesn_1")).toEqual({ seq: 9, state: initialState });
  });
}

function transcriptTests(create: Create): void {
  describe("transcripts", () => {
    test("leave an entry with a known uuid as it is and keep the order", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1), entry("b", 1)]);
      await transcripts.append("sesn_1", "", [entry("b", 2), entry("c", 2), entry("c", 3), entry("a", 2)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1), entry("b", 1), entry("c", 2)]);
    });

    test("append every entry without a uuid", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      const title = { type: "custom-title", title: "same" };
      await transcripts.append("sesn_1", "", [title, title]);
      await transcripts.append("sesn_1", "", [title]);
      expect(await transcripts.load("sesn_1", "")).toEqual([title, title, title]);
    });

    test("are kept apart by session and path", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await fresh.store.createSession(sampleSession("sesn_2"));
      await transcripts.append("sesn_1", "", [entry("a", 1)]);
      await transcripts.append("sesn_1", "subagents/x", [entry("a", 2)]);
      await transcripts.append("sesn_2", "", [entry("a", 3)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1)]);
      expect(await transcripts.load("sesn_1", "subagents/x")).toEqual([entry("a", 2)]);
      expect(await transcripts.load("sesn_2", "")).toEqual([entry("a", 3)]);
    });

    test("list the paths of subagents, not the main line", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      for (const path of ["subagents/y", "", "subagents/x"]) await transcripts.append("sesn_1", path, [entry("a", 1)]);
      expect(await transcripts.paths("sesn_1")).toEqual(["subagents/x", "subagents/y"]);
    });

    test("are replaced as a whole, one path at a time", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1), entry("b", 1)]);
      await transcripts.append("sesn_1", "subagents/x", [entry("a", 1)]);
      await transcripts.replace("sesn_1", "", [entry("c", 2), entry("a", 2)]);
      await transcripts.append("sesn_1", "", [entry("a", 3), entry("d", 3)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("c", 2), entry("a", 2), entry("d", 3)]);
      expect(await transcripts.load("sesn_1", "subagents/x")).toEqual([entry("a", 1)]);
      await transcripts.replace("sesn_1", "subagents/x", []);
      expect(await transcripts.paths("sesn_1")).toEqual([]);
    });

    test("stay as they were when a replacement fails", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1)]);
      const replacement = transcripts.replace("sesn_1", "", [entry("b", 2), { type: "user", impossible: 10n }]);
      await expect(replacement).rejects.toMatchObject({ code: "store_failed" });
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1)]);
    });

    test("load deeply equal to what was appended", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      const anyJson = fc.json().map((text) => JSON.parse(text) as unknown);
      const anyEntry = fc.record({ type: fc.string(), message: anyJson, text: fc.string({ unit: "binary" }) });
      let made = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyEntry), async (entries) => {
          const path = `subagents/${(made += 1)}`;
          await transcripts.append("sesn_1", path, entries);
          expect(await transcripts.load("sesn_1", path)).toEqual(entries);
        }),
        { numRuns: 30 },
      );
    });
  });
}

function leaseTests(create: Create): void {
  describe("leases", () => {
    test("let one host at a time drive a session, and name it to the others", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await withSession(fresh.store);
      await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const refused = other.leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await expect(refused).rejects.toMatchObject({
        code: "session_busy",
        message: expect.stringMatching(/sesn_1.*host_a.*4711.*build-7.*2026-01-01T12:01:00.000Z.*stop that process/),
        data: { holder: sampleOwner("host_a") },
        retryable: true,
      });
      expect(await other.leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("are acquired again by their own host", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const first = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE / 2);
      expect(await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE)).toEqual(first);
      clock.advance(MINUTE - 1);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("go to another host with a higher fence once they expired", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const first = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE);
      expect(await leases.holder("sesn_1")).toBeUndefined();
      const second = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      expect(second.fence).toBeGreaterThan(first.fence);
      await expect(leases.renew(first, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_b"));
    });

    test("live on when they are renewed", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const lease = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE - 1);
      await leases.renew(lease, MINUTE);
      clock.advance(MINUTE - 1);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
      clock.advance(MINUTE);
      await leases.renew(lease, MINUTE);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("are free for anyone after release, with a higher fence", async () => {
      await using fresh = await create(manualClock());
      const { leases } = await withSession(fresh.store);
      let last = 0;
      for (const hostId of ["host_a", "host_a", "host_b", "host_a"]) {
        const lease = await leases.acquire("sesn_1", sampleOwner(hostId), MINUTE);
        expect(lease.fence).toBeGreaterThan(last);
        last = lease.fence;
        await leases.release(lease);
        expect(await leases.holder("sesn_1")).toBeUndefined();
        await expect(leases.renew(lease, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      }
    });

    test("end when their host is evicted, and only then", async () => {
      await using fresh = await create(manualClock());
      const { leases } = await withSession(fresh.store);
      const lease = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await leases.evict("sesn_1", "host_b");
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
      await leases.evict("sesn_1", "host_a");
      expect(await leases.holder("sesn_1")).toBeUndefined();
      await expect(leases.renew(lease, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      const batch = { after: 0, fence: lease.fence, events: sampleMessages(1) };
      await expect(fresh.store.append("sesn_1", batch)).rejects.toMatchObject({ code: "lease_lost" });
      const next = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      expect(next.fence).toBeGreaterThan(lease.fence);
    });

    test("stay with their new holder when a former one releases", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const former = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE);
      const current = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await leases.release(former);
      await leases.renew(current, MINUTE);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_b"));
    });
  });
}

async function withSession(store: Store): Promise<Store> {
  await store.createSession(sampleSession("sesn_1"));
  return store;
}

async function drivenSession(store: Store, id: string): Promise<Lease> {
  await store.createSession(sampleSession(id));
  return store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
}

function entry(uuid: string, version: number): TranscriptEntry {
  return { type: "user", uuid, message: { role: "user", content: [{ type: "text", text: "hi", version }] } };
}
