import { describe, expect, test } from "vitest";
import { deliveryRecord, OTHER_PROJECT, PROJECT, webhookRecord } from "../../registry-samples.ts";
import { manualClock, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

export function webhookTests(create: Create): void {
  describe("webhooks", () => {
    test("are given back as they were stored, by any handle, and by their project alone", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhook = webhookRecord("whk_1", { events: ["session.status_idled", "session.errored"] });
      await fresh.store.registry.webhooks.create(webhook);
      expect(await other.registry.webhooks.get(PROJECT, "whk_1")).toEqual(webhook);
      expect(await other.registry.webhooks.get(PROJECT, "whk_2")).toBeUndefined();
      expect(await other.registry.webhooks.get(OTHER_PROJECT, "whk_1")).toBeUndefined();
    });

    test("have ids of their own in all projects", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_1"));
      for (const project of [PROJECT, OTHER_PROJECT])
        await expect(webhooks.create(webhookRecord("whk_1", { project }))).rejects.toMatchObject({
          code: "store_conflict",
        });
    });

    test("of a project are listed oldest first", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_2"));
      await webhooks.create(webhookRecord("whk_1"));
      await webhooks.create(webhookRecord("whk_3", { createdAt: NOON - 1, disabledAt: NOON }));
      await webhooks.create(webhookRecord("whk_4", { project: OTHER_PROJECT }));
      expect((await webhooks.list(PROJECT)).map(({ id }) => id)).toEqual(["whk_3", "whk_1", "whk_2"]);
    });

    test("are disabled and told again by their project alone", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_1"));
      await webhooks.create(webhookRecord("whk_2"));
      expect(await webhooks.disable(OTHER_PROJECT, "whk_1", NOON)).toBe(false);
      expect(await webhooks.disable(PROJECT, "whk_3", NOON)).toBe(false);
      expect(await webhooks.get(PROJECT, "whk_1")).toEqual(webhookRecord("whk_1"));
      expect(await webhooks.disable(PROJECT, "whk_1", NOON + 1)).toBe(true);
      expect(await webhooks.get(PROJECT, "whk_1")).toEqual(webhookRecord("whk_1", { disabledAt: NOON + 1 }));
      expect(await webhooks.get(PROJECT, "whk_2")).toEqual(webhookRecord("whk_2"));
      expect(await webhooks.disable(PROJECT, "whk_1", null)).toBe(true);
      expect(await webhooks.get(PROJECT, "whk_1")).toEqual(webhookRecord("whk_1"));
    });

    test("are deleted by their project alone, once, and with their deliveries", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_1"));
      await webhooks.create(webhookRecord("whk_2"));
      await webhooks.enqueue([deliveryRecord("dlv_1"), deliveryRecord("dlv_2", { webhookId: "whk_2" })]);
      expect(await webhooks.delete(OTHER_PROJECT, "whk_1")).toBe(false);
      expect(await webhooks.get(PROJECT, "whk_1")).toEqual(webhookRecord("whk_1"));
      expect(await webhooks.delete(PROJECT, "whk_1")).toBe(true);
      expect(await webhooks.delete(PROJECT, "whk_1")).toBe(false);
      expect(await webhooks.get(PROJECT, "whk_1")).toBeUndefined();
      expect(await webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([]);
      expect(
        (await webhooks.due(NOON, { limit: 9, limitEach: 9, except: [], leaseMs: 0 })).map(({ id }) => id),
      ).toEqual(["dlv_2"]);
    });
  });
}
