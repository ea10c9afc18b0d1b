import type { Clock } from "../../../core/ports/clock.ts";
import type { Store } from "../../../core/ports/store.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { Head } from "../audit/audit-register.ts";
import type { Database } from "../file/database.ts";
import { emptyWal } from "../file/empty-wal.ts";
import { requireFence } from "./fence.ts";
import { deletionNotes } from "../ledger-audit/digest.ts";
import { notificationProjection } from "./notification-projection.ts";
import { unknownSession } from "./sessions.ts";

/** Replaces an erased event; never valid JSON. */
export const ERASED = "";

export function sessionEraser(
  database: Database,
  { clock, audit }: { readonly clock: Clock; readonly audit: AuditLog },
): Pick<Store, "deleteSession"> {
  const selectEnd = database.prepare(
    "SELECT fence, project, head_seq AS seq, head_hash AS hash FROM sessions LEFT JOIN leases ON session_id = id WHERE id = ? AND deleted_at IS NULL",
  );
  const eraseEvents = database.prepare(`UPDATE events SET event = '${ERASED}' WHERE session_id = ?`);
  const deletions = ["transcript_entries", "snapshots", "leases", "claims", "approvals", "grants", "reservations"].map(
    (table) => database.prepare(`DELETE FROM ${table} WHERE session_id = ?`),
  );
  // The tombstone: id, times, spend and the end of the chain. Everything that people wrote is removed.
  const bury = database.prepare(
    `UPDATE sessions SET deleted_at = ?, agent = '{}', environment = '{}', cwd = '', source = '', title = NULL,
       first_message = '', metadata = '{}', agent_id = NULL, agent_version = NULL, environment_id = NULL, resources = '[]'
     WHERE id = ?`,
  );

  const notify = notificationProjection(database);
  const noteOf = deletionNotes(database);

  return {
    async deleteSession(sessionId, fence) {
      database.write(() => {
        const row = selectEnd.get<ErasedRow>(sessionId);
        if (row === undefined) throw unknownSession(sessionId);
        requireFence(sessionId, { fence, current: row.fence });
        const note = noteOf(sessionId);
        eraseEvents.run(sessionId);
        for (const deletion of deletions) deletion.run(sessionId);
        const at = clock.now();
        bury.run(at, sessionId);
        const notifications = [{ type: "session.deleted", facts: {} }] as const;
        notify({ sessionId, project: row.project, at, sourceId: sessionId, notifications });
        audit.recordDeleted(sessionId, row, note);
      });
      emptyWal(database);
    },
  };
}

interface ErasedRow extends Head {
  readonly fence: number | null;
  readonly project: string;
}
