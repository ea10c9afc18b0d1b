import { describe, expect, test } from "vitest";
import { initialState } from "../../../src/core/session/state.ts";
import { manualClock, MINUTE, sampleOwner, sampleSession } from "../samples.ts";
import { type Create, MADE_FROM } from "./under-test.ts";

export function sessionTests(create: Create): void {
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

    test("gives back what a session was made from and what was put into it", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const session = sampleSession("sesn_1", MADE_FROM);
      await fresh.store.createSession(session);
      expect(await other.session("sesn_1")).toEqual(session);
      expect(await other.sessions()).toMatchObject([session]);
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
