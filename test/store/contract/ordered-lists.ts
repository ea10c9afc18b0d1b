import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionQuery, SessionRecord, Store } from "../../../src/core/ports/store.ts";
import { example } from "../../support/event-examples.ts";
import { manualClock, MINUTE, NOON, sampleMessages, sampleOwner, sampleSession } from "../samples.ts";
import type { Create } from "./under-test.ts";

const SESSIONS: readonly Pick<SessionRecord, "id" | "project" | "createdAt">[] = [
  { id: "b", project: "/srv/a", createdAt: NOON + 2 },
  { id: "e", project: "/srv/a", createdAt: NOON + 1 },
  { id: "a", project: "/srv/a", createdAt: NOON + 3 },
  { id: "d", project: "/srv/a", createdAt: NOON + 2 },
  { id: "c", project: "/srv/a", createdAt: NOON },
  { id: "x", project: "/srv/b", createdAt: NOON + 2 },
];
/** Of the one project, by the time they were made; ids decide between equals. */
const ASCENDING = ["c", "e", "b", "d", "a"];

export function orderedListTests(create: Create): void {
  describe("lists by the time sessions were made", () => {
    test("stay in order, whichever session is active", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await using other = await fresh.another();
      await fill(fresh.store);
      clock.advance(MINUTE);
      await append(fresh.store, "e");
      const project = "/srv/a";
      expect(await idsOf(other, { project, order: "asc" })).toEqual(ASCENDING);
      expect(await idsOf(other, { project, order: "desc" })).toEqual(ASCENDING.toReversed());
      expect(await idsOf(other, { project, order: "desc", limit: 2 })).toEqual(["a", "d"]);
      expect(await idsOf(other, { order: "asc" })).toEqual(["c", "e", "b", "d", "x", "a"]);
      expect(await idsOf(other, { project })).toEqual(["e", "a", "b", "d", "c"]);
    });

    test.for(["asc", "desc"] as const)("go on after any session, %s", async (order) => {
      await using fresh = await create(manualClock());
      await fill(fresh.store);
      const ordered = order === "asc" ? ASCENDING : ASCENDING.toReversed();
      const after = (id: string) => idsOf(fresh.store, { project: "/srv/a", order, after: id });
      for (const [index, id] of ordered.entries()) expect(await after(id)).toEqual(ordered.slice(index + 1));
      // Of another project, or of nobody.
      expect(await after("x")).toEqual([]);
      expect(await after("unknown")).toEqual([]);
    });

    test("go on after a session that was deleted or archived meanwhile", async () => {
      await using fresh = await create(manualClock());
      await fill(fresh.store);
      const { fence } = await fresh.store.leases.acquire("b", sampleOwner("host_a"), MINUTE);
      await fresh.store.deleteSession("b", fence);
      await archive(fresh.store, "e");
      const query = { project: "/srv/a", order: "asc", includeArchived: false } as const;
      expect(await idsOf(fresh.store, query)).toEqual(["c", "d", "a"]);
      expect(await idsOf(fresh.store, { ...query, after: "b" })).toEqual(["d", "a"]);
      expect(await idsOf(fresh.store, { ...query, after: "e" })).toEqual(["d", "a"]);
    });

    test("have in pages of any size what they have in one", async () => {
      await using fresh = await create(manualClock());
      let made = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(3), { maxLength: 12 }),
          fc.integer({ min: 1, max: 5 }),
          fc.constantFrom("asc" as const, "desc" as const),
          async (times, limit, order) => {
            const project = `/srv/${(made += 1)}`;
            for (const [index, createdAt] of times.entries())
              await fresh.store.createSession(sampleSession(`sesn_${made}_${index}`, { project, createdAt }));
            const paged: string[] = [];
            for (let page; page === undefined || page.length > 0; paged.push(...page)) {
              const after = paged.at(-1);
              page = await idsOf(fresh.store, { project, order, limit, ...(after !== undefined && { after }) });
            }
            expect(paged).toHaveLength(times.length);
            expect(paged).toEqual(await idsOf(fresh.store, { project, order }));
          },
        ),
        { numRuns: 20 },
      );
    });

    test("are needed to go on after a session", async () => {
      await using fresh = await create(manualClock());
      await fill(fresh.store);
      await expect(fresh.store.sessions({ after: "a" })).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining('"order"'),
      });
    });
  });

  describe("lists with filters", () => {
    test.for<{ query: SessionQuery; found: readonly string[] }>([
      { query: { createdFrom: NOON + 2 }, found: ["a", "b", "d"] },
      { query: { createdUntil: NOON + 1 }, found: ["c", "e"] },
      { query: { createdFrom: NOON + 1, createdUntil: NOON + 2 }, found: ["b", "d", "e"] },
      { query: { createdFrom: NOON + 1, createdUntil: NOON + 2, order: "asc", after: "e" }, found: ["b", "d"] },
      { query: { createdFrom: NOON + 4 }, found: [] },
      { query: { statuses: ["running"] }, found: ["b"] },
      { query: { statuses: ["terminated", "running"] }, found: ["b", "d"] },
      { query: { statuses: ["rescheduling"] }, found: [] },
      { query: { statuses: [] }, found: [] },
      { query: { statuses: ["running", "idle"], status: "idle" }, found: ["a", "c", "e"] },
      { query: { agentId: "agent_1" }, found: ["a", "b", "c"] },
      { query: { agentId: "agent_1", agentVersion: 2 }, found: ["a", "b"] },
      { query: { agentId: "agent_1", agentVersion: 3 }, found: [] },
      { query: { agentId: "agent_2" }, found: ["d"] },
      { query: { agentId: "agent" }, found: [] },
      { query: { agentId: "agent_1", statuses: ["idle"], order: "desc" }, found: ["a", "c"] },
      { query: { includeArchived: true }, found: ["a", "b", "c", "d", "e"] },
      { query: { includeArchived: false }, found: ["a", "b", "d", "e"] },
      { query: { includeArchived: false, agentId: "agent_1" }, found: ["a", "b"] },
      { query: {}, found: ["a", "b", "c", "d", "e"] },
    ])("of $query have $found", async ({ query, found }) => {
      await using fresh = await create(manualClock());
      await fill(fresh.store);
      await append(fresh.store, "b", "session.status_running");
      await append(fresh.store, "d", "session.status_terminated");
      await archive(fresh.store, "c");
      expect((await idsOf(fresh.store, { project: "/srv/a", ...query })).toSorted()).toEqual(found);
    });
  });
}

const AGENTS: Readonly<Record<string, SessionRecord["agentRef"]>> = {
  a: { id: "agent_1", version: 2 },
  b: { id: "agent_1", version: 2 },
  c: { id: "agent_1", version: 1 },
  d: { id: "agent_2", version: 2 },
  x: { id: "agent_1", version: 2 },
};

async function fill(store: Store): Promise<void> {
  for (const { id, ...changes } of SESSIONS)
    await store.createSession(sampleSession(id, { ...changes, agentRef: AGENTS[id] ?? null }));
}

async function append(
  store: Store,
  id: string,
  type?: "session.status_running" | "session.status_terminated",
): Promise<void> {
  const { fence } = await store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
  await store.append(id, { after: 0, fence, events: type === undefined ? sampleMessages(1) : [example(type)] });
}

async function archive(store: Store, id: string): Promise<void> {
  const { fence } = await store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
  await store.append(id, { after: 0, fence, events: [], change: { archivedAt: NOON } });
}

async function idsOf(store: Store, query: SessionQuery): Promise<readonly string[]> {
  return (await store.sessions(query)).map(({ id }) => id);
}
