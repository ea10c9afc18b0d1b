import { describe, expect, test } from "vitest";
import { initialState } from "../../../src/core/session/state.ts";
import type { Lease, Store } from "../../../src/core/ports/store.ts";
import { manualClock, MINUTE, sampleMessages, sampleOwner, sampleSession } from "../samples.ts";
import { type Create, drivenSession, entry } from "./under-test.ts";

export function deletionTests(create: Create): void {
  describe("a deleted session", () => {
    test("is gone for everyone, with all it held", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const lease = await fullSession(fresh.store, "sesn_1");
      await fullSession(fresh.store, "sesn_2");
      await fresh.store.deleteSession("sesn_1", lease.fence);
      for (const store of [fresh.store, other]) {
        expect(await store.session("sesn_1")).toBeUndefined();
        expect((await store.sessions()).map(({ id }) => id)).toEqual(["sesn_2"]);
        expect(await store.events("sesn_1")).toEqual([]);
        expect(await store.head("sesn_1")).toBe(0);
        expect(await store.snapshot("sesn_1")).toBeUndefined();
        expect(await store.transcripts.load("sesn_1", "")).toEqual([]);
        expect(await store.transcripts.paths("sesn_1")).toEqual([]);
        expect(await store.leases.holder("sesn_1")).toBeUndefined();
      }
    });

    test("leaves the others as they are", async () => {
      await using fresh = await create(manualClock());
      const { store } = fresh;
      const { fence } = await fullSession(store, "sesn_1");
      await fullSession(store, "sesn_2");
      const before = await contentOf(store, "sesn_2");
      await store.deleteSession("sesn_1", fence);
      expect(await contentOf(store, "sesn_2")).toEqual(before);
    });

    test("takes nothing any more, and its id is not given again", async () => {
      await using fresh = await create(manualClock());
      const { store } = fresh;
      const lease = await fullSession(store, "sesn_1");
      await store.deleteSession("sesn_1", lease.fence);
      const gone = { code: "not_found", message: expect.stringContaining("sesn_1") };
      const batch = { after: 3, fence: lease.fence, events: sampleMessages(1) };
      await expect(store.append("sesn_1", batch)).rejects.toMatchObject(gone);
      await expect(store.saveSnapshot("sesn_1", { seq: 0, state: initialState })).rejects.toMatchObject(gone);
      await expect(store.transcripts.append("sesn_1", "", [entry("a", 1)])).rejects.toMatchObject(gone);
      await expect(store.transcripts.replace("sesn_1", "", [entry("a", 1)])).rejects.toMatchObject(gone);
      await expect(store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE)).rejects.toMatchObject(gone);
      await expect(store.leases.renew(lease, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      await store.leases.release(lease);
      await expect(store.deleteSession("sesn_1", lease.fence)).rejects.toMatchObject(gone);
      await expect(store.createSession(sampleSession("sesn_1"))).rejects.toMatchObject({ code: "store_conflict" });
    });

    test("can still be told from one that never was, by as many hashes as it had events", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await fullSession(fresh.store, "sesn_1");
      await fresh.store.deleteSession("sesn_1", fence);
      expect(await fresh.store.verify("sesn_1")).toMatchObject({ ok: true, events: 3 });
      await expect(fresh.store.verify("sesn_2")).rejects.toMatchObject({ code: "not_found" });
    });

    test("may have been empty", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      await fresh.store.deleteSession("sesn_1", fence);
      expect(await fresh.store.verify("sesn_1")).toMatchObject({ ok: true, events: 0 });
    });

    test("was deleted by the host that drove it and by nobody else", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { store } = fresh;
      const refusal = async (fence: number) =>
        expect(store.deleteSession("sesn_1", fence)).rejects.toMatchObject({ code: "lease_lost" });
      await expect(store.deleteSession("sesn_1", 1)).rejects.toMatchObject({ code: "not_found" });
      const former = await fullSession(store, "sesn_1");
      const before = await contentOf(store, "sesn_1");
      await refusal(former.fence + 1);
      clock.advance(MINUTE);
      const current = await store.leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await refusal(former.fence);
      expect(await contentOf(store, "sesn_1")).toEqual(before);
      await store.deleteSession("sesn_1", current.fence);
      expect(await store.session("sesn_1")).toBeUndefined();
    });
  });
}

async function fullSession(store: Store, id: string): Promise<Lease> {
  const lease = await drivenSession(store, id);
  await store.append(id, { after: 0, fence: lease.fence, events: sampleMessages(3) });
  await store.saveSnapshot(id, { seq: 3, state: initialState });
  for (const path of ["", "subagents/x"]) await store.transcripts.append(id, path, [entry("a", 1), entry("b", 1)]);
  return lease;
}

async function contentOf(store: Store, id: string): Promise<unknown> {
  return {
    session: await store.session(id),
    events: await store.events(id),
    check: await store.verify(id),
    snapshot: await store.snapshot(id),
    transcript: await store.transcripts.load(id, ""),
    paths: await store.transcripts.paths(id),
  };
}
