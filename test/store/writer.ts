import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CapstanError } from "../../src/core/errors.ts";
import type { Lease } from "../../src/core/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MINUTE, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";

/**
 * A process that shares a store: once told to go, it takes the session's lease, appends a batch, prints the new head
 * and lets the lease go, round after round.
 */
export interface WriterTask {
  readonly path: string;
  readonly sessionId: string;
  readonly hostId: string;
  readonly rounds: number;
  readonly batch: number;
}

const { path, sessionId, hostId, rounds, batch } = JSON.parse(process.argv[2] ?? "") as WriterTask;

console.log("ready");
await once(process.stdin, "data");
process.stdin.destroy();

await using store = await openSqliteStore({ path, clock: { now: () => Date.now() } });
await unless("store_conflict", () => store.createSession(sampleSession(sessionId)));
for (let round = 0; round < rounds; round += 1) {
  const lease = await acquire();
  const after = await store.head(sessionId);
  await store.append(sessionId, { after, fence: lease.fence, events: sampleMessages(batch) });
  console.log(after + batch);
  await store.leases.release(lease);
}

async function acquire(): Promise<Lease> {
  for (;;) {
    const lease = await unless("session_busy", () => store.leases.acquire(sessionId, sampleOwner(hostId), MINUTE));
    if (lease !== undefined) return lease;
    await sleep(1);
  }
}

async function unless<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CapstanError && thrown.code === code) return undefined;
    throw thrown;
  }
}
