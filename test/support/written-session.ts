import { join } from "node:path";
import { clock, ids } from "../../src/app/clock.ts";
import { openStore } from "../../src/app/open-store.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { EventDraft } from "../../src/core/events/events.ts";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import { PLAIN_SESSION } from "../../src/core/ports/store.ts";
import { Feed } from "../../src/runtime/log/feed.ts";
import { SessionLog } from "../../src/runtime/log/session-log.ts";
import type { Console } from "./console.ts";
import { agent } from "./host.ts";
import { TEST_ENGINE } from "./test-engine.ts";

const LEASE_MS = 60_000;

/** A session with this log, written as a host writes it: for logs that would take an agent hours. Gives its id. */
export async function writtenSession(
  { client, directory }: Pick<Console, "client" | "directory">,
  drafts: readonly EventDraft[],
): Promise<string> {
  const { project } = await client.whoami();
  await using store = await openStore(join(directory, "..", "home"), {});
  const id = ids.next("sesn");
  await store.createSession({
    id,
    createdAt: clock.now(),
    agent: parseAgent(agent({ engine: TEST_ENGINE })),
    environment: parseEnvironment({}),
    cwd: directory,
    source: directory,
    title: null,
    project,
    ...PLAIN_SESSION,
    forkedFrom: null,
  });
  const owner = { hostId: ids.next("host"), pid: process.pid, hostname: "test" };
  const lease = await store.leases.acquire(id, owner, LEASE_MS);
  const log = await SessionLog.open({
    store,
    sessionId: id,
    lease,
    feed: new Feed(),
    clock,
    ids,
    redactor: createRedactor(),
  });
  await log.append(drafts);
  await store.leases.release(lease);
  return id;
}
