import { describe, expect, test } from "vitest";
import type { DeliveryRecord, DueQuery, WebhookStore } from "../../../../src/core/ports/registry.ts";
import type { Store } from "../../../../src/core/ports/store.ts";
import { deliveryRecord, OTHER_PROJECT, PROJECT, webhookRecord } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

const DELIVERED = { status: "delivered", attempts: 1, nextAt: NOON, lastStatus: 200, lastError: null } as const;

export function deliveryTests(create: Create): void {
  describe("deliveries", () => {
    test("are given back as they were stored, newest first, by their project and webhook alone", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhooks = await withWebhooks(fresh.store);
      const stored = [
        deliveryRecord("dlv_1", { createdAt: NOON + 1, body: '{"text":"ünï 🚢 \\u0000"}' }),
        deliveryRecord("dlv_2", { status: "failed", attempts: 8, lastStatus: 500, lastError: "no" }),
        deliveryRecord("dlv_3", { createdAt: NOON + 1 }),
        deliveryRecord("dlv_4", { webhookId: "whk_2" }),
      ];
      await webhooks.enqueue(stored);
      const [first, second, third] = stored;
      expect(await other.registry.webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([third, first, second]);
      expect(await webhooks.deliveries(PROJECT, "whk_1", 2)).toEqual([third, first]);
      expect(await webhooks.deliveries(OTHER_PROJECT, "whk_1", 9)).toEqual([]);
    });

    test("that are there already stay as they are, and the others of the call are stored", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1")]);
      await webhooks.due(NOON, upTo(9, MINUTE));
      await webhooks.recordAttempt("dlv_1", DELIVERED);
      const again = [deliveryRecord("dlv_1", { body: "another" }), deliveryRecord("dlv_2")];
      for (const store of [fresh.store, other]) await store.registry.webhooks.enqueue(again);
      await webhooks.enqueue([]);
      expect(await idsOf(webhooks.due(NOON, upTo(9, MINUTE)))).toEqual(["dlv_2"]);
      expect(await webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([
        deliveryRecord("dlv_2"),
        deliveryRecord("dlv_1", DELIVERED),
      ]);
    });

    test("for a webhook that is gone, or another project's, are not kept", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([
        deliveryRecord("dlv_1", { webhookId: "whk_x" }),
        deliveryRecord("dlv_2", { project: OTHER_PROJECT }),
        deliveryRecord("dlv_3"),
      ]);
      expect(await idsOf(webhooks.due(NOON, upTo(9, MINUTE)))).toEqual(["dlv_3"]);
    });

    test("are due oldest first from their time on, of all projects, up to the limit", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([
        deliveryRecord("dlv_new", { createdAt: NOON + 2 }),
        deliveryRecord("dlv_later", { createdAt: NOON - 1, nextAt: NOON + MINUTE }),
        deliveryRecord("dlv_old", { createdAt: NOON - 2 }),
        deliveryRecord("dlv_b", { createdAt: NOON + 1 }),
        deliveryRecord("dlv_a", { createdAt: NOON + 1, webhookId: "whk_b", project: OTHER_PROJECT }),
        deliveryRecord("dlv_failed", { status: "failed" }),
        deliveryRecord("dlv_delivered", { status: "delivered" }),
      ]);
      expect(await webhooks.due(NOON - 1, upTo(9, 0))).toEqual([]);
      expect(await webhooks.due(NOON, upTo(0, 0))).toEqual([]);
      expect(await idsOf(webhooks.due(NOON, upTo(9, 0)))).toEqual(["dlv_old", "dlv_a", "dlv_b", "dlv_new"]);
      expect(await idsOf(webhooks.due(NOON + MINUTE - 1, upTo(2, 0)))).toEqual(["dlv_old", "dlv_a"]);
      expect(await idsOf(webhooks.due(NOON + MINUTE, upTo(2, 0)))).toEqual(["dlv_old", "dlv_later"]);
    });

    test("are with one caller until the lease ends", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1"), deliveryRecord("dlv_2"), deliveryRecord("dlv_3")]);
      expect(await webhooks.due(NOON, upTo(2, MINUTE))).toEqual([deliveryRecord("dlv_1"), deliveryRecord("dlv_2")]);
      expect(await idsOf(other.registry.webhooks.due(NOON, upTo(2, MINUTE)))).toEqual(["dlv_3"]);
      for (const store of [fresh.store, other])
        expect(await store.registry.webhooks.due(NOON + MINUTE - 1, upTo(9, MINUTE))).toEqual([]);
      expect(await idsOf(other.registry.webhooks.due(NOON + MINUTE, upTo(9, MINUTE)))).toEqual([
        "dlv_1",
        "dlv_2",
        "dlv_3",
      ]);
      expect(await webhooks.due(NOON + MINUTE, upTo(9, MINUTE))).toEqual([]);
    });

    test("are given to one of two callers that ask at once", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhooks = await withWebhooks(fresh.store);
      const ids = Array.from({ length: 20 }, (_, index) => `dlv_${String(index).padStart(2, "0")}`);
      await webhooks.enqueue(ids.map((id) => deliveryRecord(id)));
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? webhooks : other.registry.webhooks).due(NOON, upTo(3, 9)),
        ),
      );
      expect(
        taken
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(ids);
    });

    test("of one webhook are given up to a limit, and none of those that are to get nothing", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([
        ...["dlv_1", "dlv_2", "dlv_3", "dlv_4"].map((id) => deliveryRecord(id)),
        deliveryRecord("dlv_5", { webhookId: "whk_2" }),
        deliveryRecord("dlv_6", { webhookId: "whk_b", project: OTHER_PROJECT }),
      ]);
      const few = { limit: 9, limitEach: 2, except: ["whk_b"], leaseMs: 0 };
      expect(await idsOf(webhooks.due(NOON, few))).toEqual(["dlv_1", "dlv_2", "dlv_5"]);
      expect(await idsOf(webhooks.due(NOON, { ...few, limit: 1, leaseMs: MINUTE }))).toEqual(["dlv_1"]);
      // What somebody has counts no more.
      expect(await idsOf(webhooks.due(NOON, { ...few, except: [] }))).toEqual(["dlv_2", "dlv_3", "dlv_5", "dlv_6"]);
      expect(await webhooks.due(NOON, { ...few, except: ["whk_1", "whk_2", "whk_b"] })).toEqual([]);
    });

    test("wait for their next attempt after one that failed, and keep what it said", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1")]);
      await webhooks.due(NOON, upTo(9, 10 * MINUTE));
      const failed = {
        status: "waiting",
        attempts: 1,
        nextAt: NOON + MINUTE,
        lastStatus: 503,
        lastError: "busy",
      } as const;
      await webhooks.recordAttempt("dlv_1", failed);
      expect(await other.registry.webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([deliveryRecord("dlv_1", failed)]);
      expect(await webhooks.due(NOON + MINUTE - 1, upTo(9, 0))).toEqual([]);
      // The lease ended with the attempt.
      expect(await other.registry.webhooks.due(NOON + MINUTE, upTo(9, 0))).toEqual([deliveryRecord("dlv_1", failed)]);
    });

    test.for<Pick<DeliveryRecord, "status" | "lastStatus" | "lastError">>([
      { status: "delivered", lastStatus: 204, lastError: null },
      { status: "failed", lastStatus: null, lastError: "no such host" },
    ])("are over when they are $status", async (outcome) => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1"), deliveryRecord("dlv_2")]);
      await webhooks.recordAttempt("dlv_1", { ...outcome, attempts: 3, nextAt: NOON });
      expect(await idsOf(webhooks.due(NOON + MINUTE, upTo(9, 0)))).toEqual(["dlv_2"]);
      const [, over] = await webhooks.deliveries(PROJECT, "whk_1", 9);
      expect(over).toEqual(deliveryRecord("dlv_1", { ...outcome, attempts: 3 }));
    });

    test("that were delivered stay so, also when a caller whose lease had ended says otherwise", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1")]);
      await webhooks.recordAttempt("dlv_1", DELIVERED);
      await webhooks.recordAttempt("dlv_1", {
        ...DELIVERED,
        status: "waiting",
        lastStatus: null,
        lastError: "timeout",
      });
      expect(await webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([deliveryRecord("dlv_1", DELIVERED)]);
    });

    test("of a webhook that is disabled wait until it is told again", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.enqueue([deliveryRecord("dlv_1"), deliveryRecord("dlv_2", { webhookId: "whk_2" })]);
      await webhooks.disable(PROJECT, "whk_1", NOON);
      expect(await idsOf(webhooks.due(NOON, upTo(9, 0)))).toEqual(["dlv_2"]);
      await webhooks.disable(PROJECT, "whk_1", null);
      expect(await idsOf(webhooks.due(NOON, upTo(9, 0)))).toEqual(["dlv_1", "dlv_2"]);
    });

    test("that nobody knows have no attempts", async () => {
      await using fresh = await create(manualClock());
      const webhooks = await withWebhooks(fresh.store);
      await webhooks.recordAttempt("dlv_1", DELIVERED);
      expect(await webhooks.deliveries(PROJECT, "whk_1", 9)).toEqual([]);
    });
  });
}

/** Of all webhooks alike. */
function upTo(limit: number, leaseMs: number): DueQuery {
  return { limit, limitEach: 99, except: [], leaseMs };
}

/** Two of the project, and one of the other. */
async function withWebhooks({ registry: { webhooks } }: Store): Promise<WebhookStore> {
  for (const id of ["whk_1", "whk_2"]) await webhooks.create(webhookRecord(id));
  await webhooks.create(webhookRecord("whk_b", { project: OTHER_PROJECT }));
  return webhooks;
}

async function idsOf(deliveries: Promise<readonly DeliveryRecord[]>): Promise<readonly string[]> {
  return (await deliveries).map(({ id }) => id);
}
