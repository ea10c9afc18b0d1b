import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../../../src/core/events/events.ts";
import type { Store } from "../../../../src/core/ports/store.ts";
import { deliveryRecord, OTHER_PROJECT, PROJECT, webhookRecord } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON, sampleMessage, sampleOwner, sampleSession } from "../../samples.ts";
import type { Create } from "../under-test.ts";

const IDLE: SessionEvent = {
  type: "session.status_idle",
  id: "sevt_idle",
  processed_at: "2026-01-01T12:00:00.000Z",
  stop_reason: { type: "requires_action", event_ids: ["sevt_1"] },
  stop_details: null,
};

export function notificationTests(create: Create): void {
  describe("what happens to a session", () => {
    test("waits to be told as soon as it is stored, to every address of its project that wants it", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_all"));
      await webhooks.create(webhookRecord("whk_some", { events: ["session.requires_action"] }));
      await webhooks.create(webhookRecord("whk_other", { project: OTHER_PROJECT }));
      await webhooks.create(webhookRecord("whk_off", { disabledAt: NOON }));
      await livedThrough(fresh.store);
      const told = async (id: string, project = PROJECT) =>
        (await webhooks.deliveries(project, id, 9)).map(({ type }) => type).toSorted();
      expect(await told("whk_all")).toEqual([
        "session.created",
        "session.deleted",
        "session.requires_action",
        "session.status_idled",
      ]);
      expect(await told("whk_some")).toEqual(["session.requires_action"]);
      expect(await told("whk_other", OTHER_PROJECT)).toEqual([]);
      expect(await told("whk_off")).toEqual([]);
      const [delivery] = await webhooks.deliveries(PROJECT, "whk_some", 9);
      expect(JSON.parse(delivery?.body ?? "")).toEqual({
        type: "event",
        id: "wevt_sevt_idle_session.requires_action",
        created_at: new Date(NOON).toISOString(),
        data: {
          type: "session.requires_action",
          id: "sesn_1",
          organization_id: "capstan",
          workspace_id: PROJECT,
          stop_reason: { type: "requires_action", event_ids: ["sevt_1"] },
        },
      });
    });

    test("is not told when it is not stored", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await fresh.store.createSession(sampleSession("sesn_1", { project: PROJECT }));
      await webhooks.create(webhookRecord("whk_all"));
      await expect(fresh.store.append("sesn_1", { after: 7, events: [IDLE], fence: 1 })).rejects.toThrow();
      expect(await webhooks.deliveries(PROJECT, "whk_all", 9)).toEqual([]);
    });

    test("is forgotten some time after it was told, but never before", async () => {
      await using fresh = await create(manualClock());
      const { webhooks } = fresh.store.registry;
      await webhooks.create(webhookRecord("whk_1"));
      const old = { createdAt: NOON - MINUTE };
      await webhooks.enqueue([
        deliveryRecord("dlv_old", { ...old, status: "delivered" }),
        deliveryRecord("dlv_failed", { ...old, status: "failed" }),
        deliveryRecord("dlv_waiting", old),
        deliveryRecord("dlv_new", { status: "delivered" }),
      ]);
      await webhooks.prune(NOON);
      const left = (await webhooks.deliveries(PROJECT, "whk_1", 9)).map(({ id }) => id).toSorted();
      expect(left).toEqual(["dlv_new", "dlv_waiting"]);
    });
  });
}

/** A session that is made, speaks, waits and is deleted. */
async function livedThrough(store: Store): Promise<void> {
  await store.createSession(sampleSession("sesn_1", { project: PROJECT }));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_1", { after: 0, events: [sampleMessage("Hello"), IDLE], fence });
  await store.deleteSession("sesn_1", fence);
}
