import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PageQuery, Registry } from "../../../../src/core/ports/registry.ts";
import { agentRecord, environmentRecord, fileRecord, OTHER_PROJECT, PROJECT } from "../../registry-samples.ts";
import { manualClock, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

interface Place {
  readonly id: string;
  readonly project: string;
  readonly createdAt: number;
}

/** The three that are listed in pages. */
interface Listed {
  readonly what: string;
  readonly add: (registry: Registry, place: Place) => Promise<void>;
  readonly list: (registry: Registry, project: string, query: PageQuery) => Promise<readonly { readonly id: string }[]>;
  /** Absent where nothing is ever removed. */
  readonly remove?: (registry: Registry, place: Pick<Place, "id" | "project">) => Promise<boolean>;
}

const LISTED: readonly Listed[] = [
  {
    what: "agents",
    add: ({ agents }, { id, ...changes }) => agents.create(agentRecord(id, changes)),
    list: ({ agents }, project, query) => agents.list(project, query),
  },
  {
    what: "environments",
    add: ({ environments }, { id, ...changes }) => environments.create(environmentRecord(id, changes)),
    list: ({ environments }, project, query) => environments.list(project, query),
    remove: ({ environments }, { project, id }) => environments.delete(project, id),
  },
  {
    what: "files",
    add: ({ files }, { id, ...changes }) => files.create(fileRecord(id, changes)),
    list: ({ files }, project, query) => files.list(project, { ...query, now: NOON }),
    remove: ({ files }, { project, id }) => files.delete(project, id),
  },
];

const PLACES: readonly Place[] = [
  { id: "b", project: PROJECT, createdAt: NOON + 2 },
  { id: "e", project: PROJECT, createdAt: NOON + 1 },
  { id: "a", project: PROJECT, createdAt: NOON + 3 },
  { id: "d", project: PROJECT, createdAt: NOON + 2 },
  { id: "c", project: PROJECT, createdAt: NOON },
  { id: "x", project: OTHER_PROJECT, createdAt: NOON + 2 },
];
/** Newest first; ids decide between equals. */
const ORDERED = ["a", "d", "b", "e", "c"];

export function pageTests(create: Create): void {
  describe.each(LISTED)("a list of $what", ({ add, list }) => {
    test("has those of the project, newest first, up to the limit", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const idsOf = async (project: string, query: PageQuery) =>
        (await list(other.registry, project, query)).map(({ id }) => id);
      expect(await idsOf(PROJECT, { limit: 9 })).toEqual([]);
      for (const place of PLACES) await add(fresh.store.registry, place);
      expect(await idsOf(PROJECT, { limit: 9 })).toEqual(ORDERED);
      expect(await idsOf(PROJECT, { limit: 2 })).toEqual(["a", "d"]);
      expect(await idsOf(PROJECT, { limit: 0 })).toEqual([]);
      expect(await idsOf(OTHER_PROJECT, { limit: 9 })).toEqual(["x"]);
      expect(await idsOf("/srv", { limit: 9 })).toEqual([]);
    });

    test("goes on after any record of the project, and after no other", async () => {
      await using fresh = await create(manualClock());
      for (const place of PLACES) await add(fresh.store.registry, place);
      const after = async (id: string) =>
        (await list(fresh.store.registry, PROJECT, { limit: 9, after: id })).map((record) => record.id);
      for (const [index, id] of ORDERED.entries()) expect(await after(id)).toEqual(ORDERED.slice(index + 1));
      expect(await after("x")).toEqual([]);
      expect(await after("unknown")).toEqual([]);
    });

    test.for<{ query: Partial<PageQuery>; found: readonly string[] }>([
      { query: { createdFrom: NOON + 2 }, found: ["a", "d", "b"] },
      { query: { createdUntil: NOON + 1 }, found: ["e", "c"] },
      { query: { createdFrom: NOON + 1, createdUntil: NOON + 2 }, found: ["d", "b", "e"] },
      { query: { createdFrom: NOON + 1, createdUntil: NOON + 2, after: "d" }, found: ["b", "e"] },
      { query: { createdUntil: NOON + 2, after: "a" }, found: ["d", "b", "e", "c"] },
      { query: { createdFrom: NOON + 4 }, found: [] },
    ])("of $query has $found", async ({ query, found }) => {
      await using fresh = await create(manualClock());
      for (const place of PLACES) await add(fresh.store.registry, place);
      const records = await list(fresh.store.registry, PROJECT, { limit: 9, ...query });
      expect(records.map(({ id }) => id)).toEqual(found);
    });

    test("has in pages of any size what it has in one", async () => {
      await using fresh = await create(manualClock());
      const { registry } = fresh.store;
      let made = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.record({ id: fc.uuid(), createdAt: fc.nat(3) }), { selector: ({ id }) => id }),
          fc.integer({ min: 1, max: 5 }),
          async (places, limit) => {
            const project = `/srv/${(made += 1)}`;
            for (const { id, createdAt } of places) await add(registry, { id: `${made}_${id}`, project, createdAt });
            const all = await list(registry, project, { limit: 1_000 });
            expect(all).toHaveLength(places.length);
            const paged = [];
            for (let after: string | undefined; ;) {
              const page = await list(registry, project, { limit, ...(after !== undefined && { after }) });
              paged.push(...page);
              after = page.at(-1)?.id;
              if (after === undefined) break;
            }
            expect(paged).toEqual(all);
          },
        ),
        { numRuns: 15 },
      );
    });
  });

  test.each(LISTED.flatMap(({ remove, ...listed }) => (remove === undefined ? [] : [{ ...listed, remove }])))(
    "a list of $what can be read on by whoever deletes what it shows",
    async ({ add, list, remove }) => {
      await using fresh = await create(manualClock());
      const { registry } = fresh.store;
      for (const place of PLACES) await add(registry, place);
      const seen = [];
      for (let after: string | undefined; ;) {
        const page = await list(registry, PROJECT, { limit: 2, ...(after !== undefined && { after }) });
        for (const { id } of page) expect(await remove(registry, { id, project: PROJECT })).toBe(true);
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1)?.id;
        if (after === undefined) break;
      }
      expect(seen).toEqual(ORDERED);
      expect(await list(registry, PROJECT, { limit: 9 })).toEqual([]);
      expect(await list(registry, OTHER_PROJECT, { limit: 9 })).toHaveLength(1);
    },
  );
}
