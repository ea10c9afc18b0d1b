import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { DelivererTask } from "./deliverer.ts";
import { start } from "./program.ts";
import { deliveryRecord, webhookRecord } from "./registry-samples.ts";
import { MINUTE, NOON } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

test("processes that deliver at once send each delivery once", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  const ids = Array.from({ length: 200 }, (_, index) => `dlv_${String(index).padStart(3, "0")}`);
  {
    await using store = await openSqliteStore({ path, clock: { now: () => NOON } });
    await store.registry.webhooks.create(webhookRecord("whk_1"));
    await store.registry.webhooks.enqueue(ids.map((id) => deliveryRecord(id)));
  }
  const task: DelivererTask = { path, now: NOON };
  await using stack = new AsyncDisposableStack();
  const programs = await Promise.all(
    Array.from({ length: 3 }, async () =>
      stack.use(await start(new URL("./deliverer.ts", import.meta.url), [JSON.stringify(task)])),
    ),
  );
  for (const program of programs) program.go();
  const taken = await Promise.all(programs.map(async (program) => JSON.parse(await program.line()) as string[]));
  await Promise.all(programs.map((program) => program.finish()));
  expect(taken.flat().toSorted()).toEqual(ids);
  // What they took and did not tell about comes again when their leases have ended.
  await using store = await openSqliteStore({ path, clock: { now: () => NOON } });
  expect(await store.registry.webhooks.due(NOON, { limit: 1, limitEach: 200, except: [], leaseMs: MINUTE })).toEqual(
    [],
  );
  const left = await store.registry.webhooks.due(NOON + MINUTE, {
    limit: 200,
    limitEach: 200,
    except: [],
    leaseMs: MINUTE,
  });
  expect(left.map(({ status }) => status)).not.toContain("delivered");
  expect(left.length).toBeGreaterThan(100);
});
