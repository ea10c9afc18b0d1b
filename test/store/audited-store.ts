import { join } from "node:path";
import { auditKey } from "../../src/app/audit/audit-key.ts";
import type { AuditReport } from "../../src/core/session/audit.ts";
import type { Clock } from "../../src/core/ports/clock.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { checkAudit } from "../../src/store/sqlite/audit/audit-check.ts";
import { type AuditQuery, auditRecords } from "../../src/store/sqlite/audit/audit-records.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MINUTE, NOON, sampleMessages, sampleOwner, sampleSession } from "./samples.ts";

/** A store whose heads are signed with a key beside it. */
export function openAudited(directory: string): Audited {
  const path = join(directory, "capstan.db");
  const key = auditKey(join(directory, "keys", "audit-key.pem"));
  return {
    path,
    key,
    open: (clock = { now: () => NOON }) => openSqliteStore({ path, clock, auditKey: key }),
    verify(query) {
      const anchor = key.anchor();
      const trusted = key.load();
      return checkAudit(auditRecords({ path, now: NOON, key: trusted, anchor }, query), () => trusted);
    },
  };
}

export interface Audited {
  readonly path: string;
  readonly key: ReturnType<typeof auditKey>;
  open(clock?: Clock): Promise<Store>;
  verify(query?: AuditQuery): Promise<AuditReport>;
}

const idle: SessionEvent = {
  type: "session.status_idle",
  id: "sevt_idle",
  processed_at: new Date(NOON).toISOString(),
  stop_reason: { type: "end_turn" },
  stop_details: null,
};

/** Appends a turn of so many events, which ends, so that it is signed. Gives the fence. */
export async function turn(store: Store, sessionId: string, events = 5): Promise<number> {
  if ((await store.session(sessionId)) === undefined) await store.createSession(sampleSession(sessionId));
  const { fence } = await store.leases.acquire(sessionId, sampleOwner("host_a"), MINUTE);
  const after = await store.head(sessionId);
  await store.append(sessionId, { after, fence, events: [...sampleMessages(events - 1), idle] });
  return fence;
}
