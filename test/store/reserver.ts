import { once } from "node:events";
import { NO_AMOUNTS } from "../../src/core/money/budget-scopes.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { spender } from "./contract/spending.ts";

/**
 * A process that spends under a project's budget: once told to go, it reserves and settles until it is refused, some of
 * its reservations always open, and prints what it spent.
 */
export interface ReserverTask {
  readonly path: string;
  readonly sessionId: string;
  readonly usd: number;
}

const { path, sessionId, usd: limit } = JSON.parse(process.argv[2] ?? "") as ReserverTask;
await using store = await openSqliteStore({ path, clock: { now: () => Date.now() } });
const session = await spender(store, sessionId, { host: `host_${sessionId}` });
process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();

const open: string[] = [];
let spent = 0;
const settle = async (): Promise<void> => {
  const start = open.shift();
  if (start === undefined) return;
  await session.end({
    id: `end_${start}`,
    model_request_start_id: start,
    usd: 1,
    processed_at: new Date().toISOString(),
  });
  spent += 1;
};
for (let request = 0; ; request += 1) {
  const id = `${sessionId}_${request}`;
  const verdict = await store.ledger.reserve({
    id,
    sessionId,
    fence: session.lease.fence,
    amounts: { ...NO_AMOUNTS, usd: 1 },
    scopes: [{ scope: "project", limits: { usd: limit } }],
    agreed: [],
  });
  if (verdict.kind !== "granted") break;
  open.push(id);
  if (open.length > 3) await settle();
}
while (open.length > 0) await settle();
process.stdout.write(`${spent}\n`);
