import { describe, expect, test } from "vitest";
import { parseEnvironment } from "../../../../src/core/environment/environment.ts";
import { environmentRecord, OTHER_PROJECT, PROJECT } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

const full = environmentRecord("env_1", {
  description: "für alles",
  metadata: { team: "a" },
  definition: parseEnvironment({ workspace: { kind: "clone", from: "/srv/shop" }, variables: { LANG: "C" } }),
  directory: "/srv/shop",
  config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["example.com"] }, nothing: null },
});

export function environmentTests(create: Create): void {
  describe("environments", () => {
    test("are given back as they were stored, by any handle, and by their project alone", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await fresh.store.registry.environments.create(full);
      expect(await other.registry.environments.get(PROJECT, "env_1")).toEqual(full);
      expect(await other.registry.environments.get(PROJECT, "env_2")).toBeUndefined();
      expect(await other.registry.environments.get(OTHER_PROJECT, "env_1")).toBeUndefined();
    });

    test("have ids of their own in all projects", async () => {
      await using fresh = await create(manualClock());
      const { environments } = fresh.store.registry;
      await environments.create(full);
      for (const project of [PROJECT, OTHER_PROJECT])
        await expect(environments.create(environmentRecord("env_1", { project }))).rejects.toMatchObject({
          code: "store_conflict",
          message: expect.stringContaining("env_1"),
        });
      expect(await environments.get(PROJECT, "env_1")).toEqual(full);
    });

    test("are replaced as a whole, and no other with them", async () => {
      await using fresh = await create(manualClock());
      const { environments } = fresh.store.registry;
      await environments.create(full);
      await environments.create(environmentRecord("env_2"));
      const changed = environmentRecord("env_1", { name: "Neu", updatedAt: NOON + MINUTE, archivedAt: NOON + MINUTE });
      expect(await environments.update(changed)).toBe(true);
      expect(await environments.get(PROJECT, "env_1")).toEqual(changed);
      expect(await environments.get(PROJECT, "env_2")).toEqual(environmentRecord("env_2"));
    });

    test("are replaced and deleted by their project alone, and when they are there", async () => {
      await using fresh = await create(manualClock());
      const { environments } = fresh.store.registry;
      await environments.create(full);
      expect(await environments.update({ ...full, project: OTHER_PROJECT, name: "stolen" })).toBe(false);
      expect(await environments.update({ ...full, id: "env_2" })).toBe(false);
      expect(await environments.delete(OTHER_PROJECT, "env_1")).toBe(false);
      expect(await environments.delete(PROJECT, "env_2")).toBe(false);
      expect(await environments.get(PROJECT, "env_1")).toEqual(full);
      expect(await environments.get(PROJECT, "env_2")).toBeUndefined();
      expect(await environments.get(OTHER_PROJECT, "env_1")).toBeUndefined();
    });

    test("that are deleted are gone, and their ids are not given again", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const { environments } = fresh.store.registry;
      await environments.create(full);
      expect(await environments.delete(PROJECT, "env_1")).toBe(true);
      expect(await other.registry.environments.get(PROJECT, "env_1")).toBeUndefined();
      expect(await other.registry.environments.list(PROJECT, { limit: 9, includeArchived: true })).toEqual([]);
      expect(await environments.update(full)).toBe(false);
      expect(await environments.delete(PROJECT, "env_1")).toBe(false);
      await expect(environments.create(full)).rejects.toMatchObject({ code: "store_conflict" });
    });

    test("that are archived are listed when they are asked for", async () => {
      await using fresh = await create(manualClock());
      const { environments } = fresh.store.registry;
      await environments.create(environmentRecord("env_1"));
      await environments.create(environmentRecord("env_2", { archivedAt: NOON }));
      const listed = async (query: { includeArchived?: boolean; after?: string }) =>
        (await environments.list(PROJECT, { limit: 9, ...query })).map(({ id }) => id);
      expect(await listed({})).toEqual(["env_1"]);
      expect(await listed({ includeArchived: false })).toEqual(["env_1"]);
      expect(await listed({ includeArchived: true })).toEqual(["env_2", "env_1"]);
      expect(await listed({ after: "env_2" })).toEqual(["env_1"]);
    });
  });
}
