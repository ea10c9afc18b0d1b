import { describe, expect, test } from "vitest";
import { ROLES } from "../../../../src/core/ports/registry.ts";
import { keyRecord, OTHER_PROJECT, PROJECT } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

export function keyTests(create: Create): void {
  describe("keys", () => {
    test.each(ROLES)("of the role %s are found by their hash, by any handle", async (role) => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const key = keyRecord("key_1", { role });
      await fresh.store.registry.keys.create(key);
      expect(await other.registry.keys.byHash(key.hash)).toEqual(key);
      expect(await other.registry.keys.byHash(key.hash.toUpperCase())).toBeUndefined();
      expect(await other.registry.keys.byHash("")).toBeUndefined();
    });

    test("have ids and hashes of their own", async () => {
      await using fresh = await create(manualClock());
      const { keys } = fresh.store.registry;
      await keys.create(keyRecord("key_1"));
      for (const key of [keyRecord("key_1", { hash: "new" }), keyRecord("key_2", { hash: "hash of key_1" })])
        await expect(keys.create(key)).rejects.toMatchObject({ code: "store_conflict" });
      expect(await keys.list()).toEqual([keyRecord("key_1")]);
    });

    test("are listed oldest first, of one project or of all, revoked ones too", async () => {
      await using fresh = await create(manualClock());
      const { keys } = fresh.store.registry;
      await keys.create(keyRecord("key_2"));
      await keys.create(keyRecord("key_1"));
      await keys.create(keyRecord("key_4", { createdAt: NOON - 1, revokedAt: NOON }));
      await keys.create(keyRecord("key_3", { createdAt: NOON - 2, project: OTHER_PROJECT }));
      const listed = async (project?: string) => (await keys.list(project)).map(({ id }) => id);
      expect(await listed()).toEqual(["key_3", "key_4", "key_1", "key_2"]);
      expect(await listed(PROJECT)).toEqual(["key_4", "key_1", "key_2"]);
      expect(await listed(OTHER_PROJECT)).toEqual(["key_3"]);
      expect(await listed("/srv")).toEqual([]);
    });

    test("are revoked once, and are still found", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const { keys } = fresh.store.registry;
      const key = keyRecord("key_1");
      await keys.create(key);
      await keys.create(keyRecord("key_2"));
      expect(await keys.revoke("key_1", NOON + 1)).toBe(true);
      expect(await other.registry.keys.revoke("key_1", NOON + 2)).toBe(false);
      expect(await keys.revoke("key_3", NOON)).toBe(false);
      expect(await other.registry.keys.byHash(key.hash)).toEqual({ ...key, revokedAt: NOON + 1 });
      expect(await keys.byHash("hash of key_2")).toMatchObject({ revokedAt: null });
    });

    test("keep when they were used last, in whatever order that is told", async () => {
      await using fresh = await create(manualClock());
      const { keys } = fresh.store.registry;
      await keys.create(keyRecord("key_1"));
      await keys.create(keyRecord("key_2"));
      for (const at of [NOON, NOON + MINUTE, NOON + 1]) await keys.recordUse("key_1", at);
      await keys.recordUse("key_3", NOON);
      expect((await keys.list()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([NOON + MINUTE, null]);
    });
  });
}
