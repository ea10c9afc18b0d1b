import type { Clock } from "../../../core/ports/clock.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionEvent, StoredEvent } from "../../../core/events/events.ts";
import { notificationsOf } from "../../../core/session/notification.ts";
import type { AppendBatch, Store } from "../../../core/ports/store.ts";
import { approvalProjection } from "../approvals.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import { claimWriter } from "./claims.ts";
import type { Database } from "../file/database.ts";
import { requireFence } from "./fence.ts";
import { eventHash } from "../audit/hash-chain.ts";
import { notificationProjection } from "./notification-projection.ts";
import { spendProjection } from "../ledger/ledger-projection.ts";
import { recordChange, unknownSession } from "./sessions.ts";
import { type Summary, summarize } from "./summary.ts";

/** Parameters: session, after, up to, limit (-1 for none). Includes the rows of a deleted session. */
export const SELECT_EVENTS =
  "SELECT seq, event, hash FROM events WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?";

export interface EventRow {
  readonly seq: number;
  readonly event: string;
  readonly hash: string;
}

interface LogEnd extends Summary {
  readonly head_seq: number;
  readonly head_hash: string;
  readonly fence: number | null;
  readonly project: string;
  readonly agent: string;
}

export function eventLog(
  database: Database,
  { clock, audit }: { readonly clock: Clock; readonly audit: AuditLog },
): Pick<Store, "append" | "sync" | "events" | "head"> {
  const selectEnd = database.prepare(
    `SELECT head_seq, head_hash, fence, project, coalesce(agent ->> '$.name', '') AS agent, status, turns, usd,
       first_message AS firstMessage
     FROM sessions LEFT JOIN leases ON session_id = id WHERE id = ? AND deleted_at IS NULL`,
  );
  const insert = database.prepare("INSERT INTO events (session_id, seq, event, hash) VALUES (?, ?, ?, ?)");
  const moveEnd = database.prepare(
    `UPDATE sessions SET head_seq = ?, head_hash = ?, status = ?, turns = ?, usd = ?, first_message = ?,
     last_activity_at = max(last_activity_at, ?), last_spoken_at = max(last_spoken_at, ?) WHERE id = ?`,
  );
  const selectRange = database.prepare(
    SELECT_EVENTS.replace("ORDER BY", "AND (SELECT deleted_at FROM sessions WHERE id = ?) IS NULL ORDER BY"),
  );
  const projectApproval = approvalProjection(database);
  const recordSpend = spendProjection(database);
  const changeRecord = recordChange(database);
  const notify = notificationProjection(database);
  const takeClaim = claimWriter(database);
  const selectHead = database.prepare("SELECT head_seq FROM sessions WHERE id = ? AND deleted_at IS NULL");

  return {
    async append(sessionId, batch) {
      let signed = false;
      const write = batch.isEarly === true ? database.writeEarly.bind(database) : database.write.bind(database);
      const stored = write(() => {
        const end = selectEnd.get<LogEnd>(sessionId);
        if (end === undefined) throw unknownSession(sessionId);
        checkBatch(sessionId, { batch, end });
        if (batch.change !== undefined) changeRecord(sessionId, batch.change);
        if (batch.claim !== undefined) takeClaim(sessionId, batch.claim);
        if (batch.events.length === 0) return [];
        let { head_seq: seq, head_hash: previous } = end;
        let summary: Summary = end;
        const stored: StoredEvent[] = [];
        for (const event of batch.events) {
          const text = JSON.stringify(event);
          seq += 1;
          previous = eventHash({ previous, sessionId, seq, text });
          insert.run(sessionId, seq, text, previous);
          const { turns: before } = summary;
          summary = summarize(summary, event);
          recordSpend({ sessionId, project: end.project, agent: end.agent, seq, event, turns: summary.turns - before });
          projectApproval(sessionId, event, batch.unredacted);
          const notifications = batch.isPast === true ? [] : notificationsOf(event);
          notify({ sessionId, project: end.project, at: clock.now(), sourceId: event.id, notifications });
          stored.push(toStoredEvent({ seq, event: text, hash: previous }));
        }
        const { status, turns, usd, firstMessage } = summary;
        const now = clock.now();
        const isSpokenTo = batch.isPast !== true && batch.events.some(({ type }) => type === "user.message");
        moveEnd.run(seq, previous, status, turns, usd, firstMessage, now, isSpokenTo ? now : 0, sessionId);
        const head = { seq, hash: previous };
        signed = audit.appending(sessionId, { from: end.head_seq, head, events: batch.events });
        return stored;
      });
      const last = stored.at(-1);
      if (last !== undefined) audit.recordAppended(sessionId, { from: batch.after, head: last, signed });
      return stored;
    },

    sync: () => database.sync(),

    async events(sessionId, { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit = -1 } = {}) {
      return database.read(() => {
        const rows = selectRange.all<EventRow>(sessionId, after, upTo, sessionId, limit);
        return rows.map(toStoredEvent);
      });
    },

    async head(sessionId) {
      return database.read(() => {
        const row = selectHead.get<Pick<LogEnd, "head_seq">>(sessionId);
        return row?.head_seq ?? 0;
      });
    },
  };
}

function checkBatch(sessionId: string, { batch, end }: { readonly batch: AppendBatch; readonly end: LogEnd }): void {
  requireFence(sessionId, { fence: batch.fence, current: end.fence });
  if (batch.after !== end.head_seq)
    throw new CapstanError(
      "store_conflict",
      `The log of session ${sessionId} is at position ${end.head_seq}, but the writer expected ${batch.after}. ` +
        "Read the events in between, then try again.",
      { data: { sessionId, expected: batch.after, actual: end.head_seq } },
    );
}

/** Always from the saved text, so that an append returns what every later read will. */
function toStoredEvent({ seq, event, hash }: EventRow): StoredEvent {
  return { seq, event: JSON.parse(event) as SessionEvent, hash };
}
