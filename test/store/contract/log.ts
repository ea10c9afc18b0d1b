import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock, MINUTE, sampleMessage, sampleMessages, sampleOwner, sampleSession } from "../samples.ts";
import { type Create, drivenSession } from "./under-test.ts";

export function logTests(create: Create): void {
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

    test("takes an early append at once, for every reader, and tells when the disk has it", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const early = { fence, isEarly: true };
      const first = await fresh.store.append("sesn_1", { after: 0, events: sampleMessages(2), ...early });
      expect(await other.events("sesn_1")).toEqual(first);
      const appended = [1, 2, 3].map((index) =>
        fresh.store.append("sesn_1", { after: index + 1, events: sampleMessages(1), ...early }),
      );
      await Promise.all([fresh.store.sync(), ...appended, fresh.store.sync()]);
      await fresh.store.sync();
      expect(await other.verify("sesn_1")).toEqual({ ok: true, events: 5 });
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
          message: expect.stringContaining(`is at position 3, but the writer expected ${after}`),
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
