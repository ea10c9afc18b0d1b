import { once } from "node:events";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MINUTE } from "./samples.ts";

/** A process that delivers: once told to go, it takes what is due until nothing is left, and prints the ids it took. */
export interface DelivererTask {
  readonly path: string;
  readonly now: number;
}

const { path, now } = JSON.parse(process.argv[2] ?? "") as DelivererTask;
await using store = await openSqliteStore({ path, clock: { now: () => now } });
const { webhooks } = store.registry;
process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();

const taken: string[] = [];
for (;;) {
  const deliveries = await webhooks.due(now, { limit: 3, limitEach: 200, except: [], leaseMs: MINUTE });
  if (deliveries.length === 0) break;
  taken.push(...deliveries.map(({ id }) => id));
  // Some are over at once; the others stay with this process as long as their lease lasts.
  const [first] = deliveries;
  if (first !== undefined)
    await webhooks.recordAttempt(first.id, { ...first, status: "delivered", attempts: 1, lastStatus: 200 });
}
process.stdout.write(`${JSON.stringify(taken)}\n`);
