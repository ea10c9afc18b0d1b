import { describe, expect, test } from "vitest";
import type { AgentRecord } from "../../../../src/core/ports/registry.ts";
import { agentRecord, OTHER_PROJECT, PROJECT } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON, sampleAgent } from "../../samples.ts";
import type { Create } from "../under-test.ts";

/** A next version that differs in everything that may differ. */
function second(id: string): AgentRecord {
  return agentRecord(id, {
    version: 2,
    name: "Reviewer",
    description: "looks twice",
    metadata: { team: "a" },
    definition: { ...sampleAgent, instructions: "Look twice." },
    updatedAt: NOON + MINUTE,
  });
}

export function agentTests(create: Create): void {
  describe("agents", () => {
    test("are given back as they were stored, by any handle, and by their project alone", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const agent = agentRecord("agent_1", { description: "prüft", metadata: { "a b": "ü", "": "" } });
      await fresh.store.registry.agents.create(agent);
      expect(await other.registry.agents.get(PROJECT, "agent_1")).toEqual(agent);
      expect(await other.registry.agents.get(PROJECT, "agent_2")).toBeUndefined();
      expect(await other.registry.agents.get(OTHER_PROJECT, "agent_1")).toBeUndefined();
      expect(await other.registry.agents.versions(OTHER_PROJECT, "agent_1", { limit: 9 })).toEqual([]);
    });

    test("have ids of their own in all projects", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      for (const project of [PROJECT, OTHER_PROJECT])
        await expect(agents.create(agentRecord("agent_1", { project, name: "new" }))).rejects.toMatchObject({
          code: "store_conflict",
          message: expect.stringContaining("agent_1"),
        });
      expect(await agents.get(PROJECT, "agent_1")).toEqual(agentRecord("agent_1"));
      expect(await agents.get(OTHER_PROJECT, "agent_1")).toBeUndefined();
    });

    test("begin with version 1", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      const begun = agents.create(agentRecord("agent_1", { version: 2 }));
      await expect(begun).rejects.toMatchObject({ code: "store_conflict" });
      expect(await agents.get(PROJECT, "agent_1")).toBeUndefined();
    });

    test("keep every version as it was, and show the newest", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      const [first, next] = [agentRecord("agent_1"), second("agent_1")];
      await agents.create(first);
      await agents.create(agentRecord("agent_2", { createdAt: NOON - 1 }));
      await agents.update(next);
      expect(await agents.get(PROJECT, "agent_1")).toEqual(next);
      expect(await agents.get(PROJECT, "agent_1", 2)).toEqual(next);
      expect(await agents.get(PROJECT, "agent_1", 1)).toEqual(first);
      expect(await agents.get(PROJECT, "agent_1", 3)).toBeUndefined();
      expect(await agents.get(PROJECT, "agent_1", 0)).toBeUndefined();
      expect((await agents.list(PROJECT, { limit: 9 })).map(({ id, version }) => [id, version])).toEqual([
        ["agent_1", 2],
        ["agent_2", 1],
      ]);
    });

    test("list their versions newest first, below any of them", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      await agents.create(agentRecord("agent_2"));
      for (const version of [2, 3, 4])
        await agents.update(agentRecord("agent_1", { version, updatedAt: NOON + version }));
      const versions = async (query: { limit: number; before?: number }) =>
        (await agents.versions(PROJECT, "agent_1", query)).map(({ version, updatedAt }) => [version, updatedAt - NOON]);
      expect(await versions({ limit: 9 })).toEqual([
        [4, 4],
        [3, 3],
        [2, 2],
        [1, 0],
      ]);
      expect(await versions({ limit: 2 })).toEqual([
        [4, 4],
        [3, 3],
      ]);
      expect(await versions({ limit: 9, before: 3 })).toEqual([
        [2, 2],
        [1, 0],
      ]);
      expect(await versions({ limit: 9, before: 1 })).toEqual([]);
    });

    test.for([
      { version: 1, why: "its newest version is 2" },
      { version: 2, why: "its newest version is 2" },
      { version: 4, why: "its newest version is 2" },
    ])("refuse version $version where the newest is 2, and say so", async ({ version, why }) => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      await agents.update(second("agent_1"));
      await expect(agents.update({ ...second("agent_1"), version, name: "lost" })).rejects.toMatchObject({
        code: "store_conflict",
        message: expect.stringContaining(why),
        data: { newest: 2 },
      });
      expect(await agents.get(PROJECT, "agent_1")).toEqual(second("agent_1"));
      expect(await agents.versions(PROJECT, "agent_1", { limit: 9 })).toHaveLength(2);
    });

    test("that are not there, or another project's, get no version", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      for (const agent of [
        second("agent_2"),
        { ...second("agent_2"), version: 1 },
        { ...second("agent_1"), project: OTHER_PROJECT },
      ])
        await expect(agents.update(agent)).rejects.toMatchObject({
          code: "store_conflict",
          message: expect.stringContaining("the agent does not exist"),
        });
      expect(await agents.versions(PROJECT, "agent_1", { limit: 9 })).toHaveLength(1);
    });

    test("take one of two changes that are made at once", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await fresh.store.registry.agents.create(agentRecord("agent_1"));
      const changes = [fresh.store, other].map(({ registry }, index) =>
        registry.agents.update({ ...second("agent_1"), name: `change ${index}` }),
      );
      const outcomes = await Promise.allSettled(changes);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
      expect(await other.registry.agents.get(PROJECT, "agent_1")).toMatchObject({ name: `change ${winner}` });
    });

    test("were made once, whatever a later version says", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      await agents.archive(PROJECT, "agent_1", NOON + 5);
      await agents.update({ ...second("agent_1"), createdAt: NOON + 9, archivedAt: null });
      expect(await agents.get(PROJECT, "agent_1")).toEqual({ ...second("agent_1"), archivedAt: NOON + 5 });
    });

    test("are archived once, with all their versions", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      await agents.update(second("agent_1"));
      const archived = { ...second("agent_1"), archivedAt: NOON + 1 };
      expect(await agents.archive(PROJECT, "agent_1", NOON + 1)).toEqual(archived);
      expect(await agents.archive(PROJECT, "agent_1", NOON + 2)).toEqual(archived);
      expect(await agents.get(PROJECT, "agent_1")).toEqual(archived);
      expect(await agents.get(PROJECT, "agent_1", 1)).toEqual({ ...agentRecord("agent_1"), archivedAt: NOON + 1 });
    });

    test("are archived by their project alone", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      await agents.create(agentRecord("agent_1"));
      expect(await agents.archive(OTHER_PROJECT, "agent_1", NOON)).toBeUndefined();
      expect(await agents.archive(PROJECT, "agent_2", NOON)).toBeUndefined();
      expect(await agents.get(PROJECT, "agent_1")).toMatchObject({ archivedAt: null });
    });

    test("that are archived are listed when they are asked for, and a page can begin after one", async () => {
      await using fresh = await create(manualClock());
      const { agents } = fresh.store.registry;
      for (const id of ["agent_1", "agent_2", "agent_3"]) await agents.create(agentRecord(id));
      await agents.archive(PROJECT, "agent_2", NOON);
      const idsOf = async (includeArchived?: boolean, after?: string) =>
        (
          await agents.list(PROJECT, {
            limit: 9,
            ...(includeArchived !== undefined && { includeArchived }),
            ...(after !== undefined && { after }),
          })
        ).map(({ id }) => id);
      expect(await idsOf()).toEqual(["agent_3", "agent_1"]);
      expect(await idsOf(false)).toEqual(["agent_3", "agent_1"]);
      expect(await idsOf(true)).toEqual(["agent_3", "agent_2", "agent_1"]);
      expect(await idsOf(false, "agent_2")).toEqual(["agent_1"]);
    });
  });
}
