import { describe, expect, test } from "vitest";
import type { SessionQuery, SessionRecord, Store } from "../../../src/core/ports/store.ts";
import { example } from "../../support/event-examples.ts";
import {
  manualClock,
  MINUTE,
  NOON,
  sampleAgent,
  sampleMessage,
  sampleMessages,
  sampleOwner,
  sampleSession,
} from "../samples.ts";
import type { Create } from "./under-test.ts";

export function listTests(create: Create): void {
  describe("lists", () => {
    test("have the last active session first, up to the limit", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await using other = await fresh.another();
      for (const [id, createdAt] of [
        ["sesn_b", NOON - 2],
        ["sesn_a", NOON - 1],
        ["sesn_d", NOON - 3],
        ["sesn_c", NOON - 3],
      ] as const)
        await fresh.store.createSession(sampleSession(id, { createdAt }));
      expect(await idsOf(other)).toEqual(["sesn_a", "sesn_b", "sesn_c", "sesn_d"]);

      for (const id of ["sesn_d", "sesn_b"]) {
        clock.advance(MINUTE);
        await say(fresh.store, { id, text: "hello" });
      }
      expect(await idsOf(other)).toEqual(["sesn_b", "sesn_d", "sesn_a", "sesn_c"]);
      expect(await idsOf(other, { limit: 2 })).toEqual(["sesn_b", "sesn_d"]);
      expect(await idsOf(other, { limit: 0 })).toEqual([]);
    });

    test("keep the order of ids among sessions that were active at the same time", async () => {
      await using fresh = await create(manualClock());
      for (const id of ["sesn_3", "sesn_1", "sesn_2"]) await fresh.store.createSession(sampleSession(id));
      expect(await idsOf(fresh.store)).toEqual(["sesn_1", "sesn_2", "sesn_3"]);
    });

    test.for<{ query: SessionQuery; found: readonly string[] }>([
      { query: { project: "/srv/a" }, found: ["sesn_running", "sesn_idle"] },
      { query: { project: "/srv" }, found: [] },
      { query: { status: "running" }, found: ["sesn_running"] },
      { query: { status: "idle" }, found: ["sesn_idle", "sesn_other"] },
      { query: { status: "terminated" }, found: [] },
      { query: { agent: "writer" }, found: ["sesn_other"] },
      { query: { agent: "write" }, found: [] },
      { query: { inactiveSince: NOON + MINUTE }, found: ["sesn_idle", "sesn_other"] },
      { query: { inactiveSince: NOON }, found: [] },
      { query: { inactiveSince: NOON + MINUTE + 1 }, found: ["sesn_running", "sesn_idle", "sesn_other"] },
      { query: { project: "/srv/a", status: "idle", agent: "reviewer", search: "review" }, found: ["sesn_idle"] },
      { query: { project: "/srv/a", limit: 1 }, found: ["sesn_running"] },
      { query: { project: "/srv/b", status: "running" }, found: [] },
    ])("of $query are $found", async ({ query, found }) => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { store } = fresh;
      const agent = { ...sampleAgent, name: "writer" };
      await store.createSession(sampleSession("sesn_idle", { project: "/srv/a" }));
      await store.createSession(sampleSession("sesn_running", { project: "/srv/a" }));
      await store.createSession(sampleSession("sesn_other", { project: "/srv/b", agent }));
      clock.advance(MINUTE);
      const { fence } = await store.leases.acquire("sesn_running", sampleOwner("host_a"), MINUTE);
      await store.append("sesn_running", { after: 0, fence, events: [example("session.status_running")] });
      await using other = await fresh.another();
      expect(await idsOf(other, query)).toEqual(found);
    });

    test.for<{ search: string; found: readonly string[] }>([
      { search: "DEPLOY", found: ["sesn_title"] },
      { search: "änderung", found: ["sesn_title"] },
      { search: "ÄNDERUNG", found: ["sesn_title"] },
      { search: "100%", found: ["sesn_message"] },
      { search: "%", found: ["sesn_message"] },
      { search: "snake_case", found: ["sesn_cwd"] },
      { search: "e_c", found: ["sesn_cwd"] },
      { search: "_", found: ["sesn_cwd"] },
      { search: "\\", found: [] },
      { search: "Audit", found: ["sesn_agent"] },
      { search: "instructions of nobody", found: [] },
      { search: "", found: ["sesn_agent", "sesn_cwd", "sesn_message", "sesn_title"] },
    ])("of what contains '$search' are $found", async ({ search, found }) => {
      await using fresh = await create(manualClock());
      const agent = { ...sampleAgent, name: "auditor", instructions: "instructions of nobody" };
      const sessions: Record<string, Partial<SessionRecord>> = {
        sesn_title: { title: "Deploy die Änderung" },
        sesn_message: {},
        sesn_cwd: { cwd: "/srv/snake_case" },
        sesn_agent: { agent },
      };
      for (const [id, changes] of Object.entries(sessions)) await fresh.store.createSession(sampleSession(id, changes));
      await say(fresh.store, { id: "sesn_message", text: "Be 100% sure" });
      expect(await idsOf(fresh.store, { search })).toEqual(found);
    });

    test("show sessions that have no events", async () => {
      await using fresh = await create(manualClock());
      const record = sampleSession("sesn_1", { createdAt: NOON - 5, title: "New", project: "/srv/a" });
      await fresh.store.createSession(record);
      const nothing = {
        status: "idle",
        lastActivityAt: NOON - 5,
        lastSpokenAt: NOON - 5,
        turns: 0,
        usd: 0,
        firstMessage: "",
      };
      expect(await fresh.store.sessions()).toEqual([{ ...record, ...nothing }]);
    });

    test("are not moved by an append of nothing, nor by one that failed", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await fresh.store.createSession(sampleSession("sesn_1"));
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const before = await fresh.store.sessions();
      clock.advance(MINUTE);
      await fresh.store.append("sesn_1", { after: 0, fence, events: [] });
      const late = fresh.store.append("sesn_1", { after: 7, fence, events: sampleMessages(1) });
      await expect(late).rejects.toMatchObject({ code: "store_conflict" });
      expect(await fresh.store.sessions()).toEqual(before);
    });
  });
}

async function idsOf(store: Store, query?: SessionQuery): Promise<readonly string[]> {
  return (await store.sessions(query)).map(({ id }) => id);
}

async function say(store: Store, { id, text }: { readonly id: string; readonly text: string }): Promise<void> {
  const { fence } = await store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
  await store.append(id, { after: 0, fence, events: [sampleMessage(text)] });
}
