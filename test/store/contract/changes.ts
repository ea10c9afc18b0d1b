import { describe, expect, test } from "vitest";
import type { SessionChange } from "../../../src/core/ports/store.ts";
import { manualClock, MINUTE, NOON, sampleMessage, sampleMessages, sampleOwner, sampleSession } from "../samples.ts";
import { type Create, MADE_FROM } from "./under-test.ts";

export function changeTests(create: Create): void {
  describe("a change of a session's record", () => {
    const before = sampleSession("sesn_1", { ...MADE_FROM, title: "before" });

    test.for<SessionChange>([
      { title: "after" },
      { title: null },
      { title: "" },
      { metadata: { ticket: "SHOP-8" } },
      { metadata: {} },
      { resources: [] },
      { resources: [{ id: "sesrsc_9", type: "file", fileId: "file_9", mountPath: "a", createdAt: NOON }] },
      { archivedAt: NOON + 9 },
      { archivedAt: null },
      { title: "after", metadata: { a: "b" }, resources: [], archivedAt: null },
      {},
    ])("is stored with the events that tell of it, and changes nothing else: %j", async (change) => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await fresh.store.createSession(before);
      await fresh.store.createSession({ ...before, id: "sesn_2" });
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await fresh.store.append("sesn_1", { after: 0, fence, events: sampleMessages(1), change });
      expect(await other.session("sesn_1")).toEqual({ ...before, ...change });
      expect(await other.head("sesn_1")).toBe(1);
      expect(await other.session("sesn_2")).toEqual({ ...before, id: "sesn_2" });
      expect(await other.verify("sesn_1")).toEqual({ ok: true, events: 1 });
    });

    test("of its engine is one of its own copy of the agent", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await fresh.store.createSession(before);
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const batch = { after: 0, fence, events: sampleMessages(1), change: { engine: "direct" as const } };
      await fresh.store.append("sesn_1", batch);
      expect(await other.session("sesn_1")).toEqual({ ...before, agent: { ...before.agent, engine: "direct" } });
      expect((await other.sessions())[0]?.agent.engine).toBe("direct");
    });

    test("needs no event, and then moves the session in no list", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await fresh.store.createSession(before);
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const [listed] = await fresh.store.sessions();
      clock.advance(MINUTE);
      expect(await fresh.store.append("sesn_1", { after: 0, fence, events: [], change: { title: "after" } })).toEqual(
        [],
      );
      expect(await fresh.store.sessions()).toEqual([{ ...listed, title: "after" }]);
      expect(await fresh.store.head("sesn_1")).toBe(0);
    });

    test("is not made when the events are refused", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { store } = fresh;
      await store.createSession(before);
      const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const change = { title: "after", metadata: {}, resources: [], archivedAt: null };
      const impossible = { ...sampleMessage("b"), content: 10n as never };
      for (const [batch, code] of [
        [{ after: 1, fence, events: sampleMessages(1), change }, "store_conflict"],
        [{ after: 1, fence, events: [], change }, "store_conflict"],
        [{ after: 0, fence: fence + 1, events: [], change }, "lease_lost"],
        [{ after: 0, fence, events: [sampleMessage("a"), impossible], change }, "store_failed"],
      ] as const)
        await expect(store.append("sesn_1", batch)).rejects.toMatchObject({ code });
      await expect(store.append("sesn_x", { after: 0, fence, events: [], change })).rejects.toMatchObject({
        code: "not_found",
      });
      expect(await store.session("sesn_1")).toEqual(before);
    });

    test("of its title is found by a search", async () => {
      await using fresh = await create(manualClock());
      await fresh.store.createSession(before);
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await fresh.store.append("sesn_1", { after: 0, fence, events: [], change: { title: "Die Änderung" } });
      expect(await fresh.store.sessions({ search: "änderung" })).toHaveLength(1);
      expect(await fresh.store.sessions({ search: "before" })).toEqual([]);
    });
  });
}
