import { once } from "node:events";
import { openAudited, turn } from "./audited-store.ts";
import { MINUTE, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";

/**
 * A process that shares an audited store: once told to go, it appends to a session of its own, round after round, and
 * prints each new head. With `turns` every round ends a turn, which is then signed.
 */
export interface AuditWriterTask {
  readonly directory: string;
  readonly sessionId: string;
  readonly rounds: number;
  readonly turns: boolean;
}

const { directory, sessionId, rounds, turns } = JSON.parse(process.argv[2] ?? "") as AuditWriterTask;

console.log("ready");
await once(process.stdin, "data");
process.stdin.destroy();

await using store = await openAudited(directory).open({ now: () => Date.now() });
await store.createSession(sampleSession(sessionId));
for (let round = 0; round < rounds; round += 1) {
  if (turns) await turn(store, sessionId, 3);
  else {
    const { fence } = await store.leases.acquire(sessionId, sampleOwner("host_a"), MINUTE);
    const after = await store.head(sessionId);
    await store.append(sessionId, { after, fence, events: sampleMessages(3) });
  }
  console.log((round + 1) * 3);
}
