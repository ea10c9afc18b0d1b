import type { Clock } from "../../../core/ports/clock.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { LeaseOwner, LeaseStore } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { sessionGuard } from "./sessions.ts";

interface LeaseRow {
  readonly fence: number;
  readonly host_id: string;
  readonly pid: number;
  readonly hostname: string;
  readonly expires_at: number;
}

/**
 * One row per session, kept as long as the session: the fence must never go back. A host keeps its fence until it
 * releases the lease, is evicted, or another host takes the lease; so the holder of a lease that expired and that
 * nobody took can still write. Nothing here waits for the disk: when the machine fails, all hosts of this file end, and
 * so do their leases.
 */
export function leaseTable(database: Database, clock: Clock): LeaseStore {
  const requireSession = sessionGuard(database);
  const select = database.prepare("SELECT fence, host_id, pid, hostname, expires_at FROM leases WHERE session_id = ?");
  const put = database.prepare(
    "REPLACE INTO leases (session_id, fence, host_id, pid, hostname, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const extend = database.prepare(
    "UPDATE leases SET expires_at = ? WHERE session_id = ? AND host_id = ? AND fence = ?",
  );
  // The fence increases when a lease ends, so that pending writes of the old holder are refused.
  const endOwn = database.prepare(
    "UPDATE leases SET expires_at = 0, fence = fence + 1 WHERE session_id = ? AND host_id = ? AND fence = ?",
  );
  const endOf = database.prepare(
    "UPDATE leases SET expires_at = 0, fence = fence + 1 WHERE session_id = ? AND host_id = ?",
  );

  // One query for all: hosts run it every second. The seemingly redundant terms select the indexes.
  const selectWanted = database.prepare(`
    SELECT wanted.id AS session_id, host_id, pid, hostname, coalesce(expires_at, 0) AS expires_at, coalesce(fence, 0) AS fence
    FROM (
      SELECT id FROM sessions INDEXED BY sessions_by_activity
        WHERE status IN ('running', 'rescheduling') AND archived_at IS NULL AND deleted_at IS NULL
      UNION
      SELECT session_id FROM approvals WHERE status = 'answered' AND status <> 'settled'
      UNION
      SELECT session_id FROM approvals WHERE status = 'pending' AND status <> 'settled' AND expires_at <= :now
    ) AS wanted LEFT JOIN leases ON leases.session_id = wanted.id ORDER BY wanted.id`);

  return {
    async acquire(sessionId, owner, ttlMs) {
      return database.writeEarly(() => {
        requireSession(sessionId);
        const now = clock.now();
        const row = select.get<LeaseRow>(sessionId);
        const isOwn = row?.host_id === owner.hostId;
        if (row !== undefined && !isOwn && row.expires_at > now) throw busy(sessionId, row);
        const fence = isOwn ? row.fence : (row?.fence ?? 0) + 1;
        put.run(sessionId, fence, owner.hostId, owner.pid, owner.hostname, now + ttlMs);
        return { sessionId, hostId: owner.hostId, fence };
      });
    },

    async renew({ sessionId, hostId, fence }, ttlMs) {
      const { changes } = database.writeEarly(() => extend.run(clock.now() + ttlMs, sessionId, hostId, fence));
      if (changes === 0)
        throw new CapstanError(
          "lease_lost",
          `The lease of session ${sessionId} is no longer held by ${hostId}. Stop working on the session; acquire it again to continue.`,
          { data: { sessionId, hostId, fence } },
        );
    },

    async release({ sessionId, hostId, fence }) {
      database.writeEarly(() => endOwn.run(sessionId, hostId, fence));
    },

    async evict(sessionId, hostId) {
      database.writeEarly(() => endOf.run(sessionId, hostId));
    },

    async listWanted(now) {
      const rows = database.read(() => selectWanted.all<LeaseRow & { session_id: string }>({ now }));
      return rows.map((row) => ({
        sessionId: row.session_id,
        holder: row.expires_at > now ? ownerOf(row) : undefined,
      }));
    },

    async holder(sessionId) {
      const row = database.read(() => select.get<LeaseRow>(sessionId));
      return row !== undefined && row.expires_at > clock.now() ? ownerOf(row) : undefined;
    },
  };
}

/** Throws if a session of this store is being driven; the file may be of any version. */
export function refuseLiveLease(database: Database, clock: Clock): void {
  const hasLeases = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'leases'");
  if (database.read(() => hasLeases.get()) === undefined) return;
  const select = database.prepare(
    "SELECT session_id, fence, host_id, pid, hostname, expires_at FROM leases WHERE expires_at > ? ORDER BY expires_at DESC",
  );
  const row = database.read(() => select.get<LeaseRow & { readonly session_id: string }>(clock.now()));
  if (row !== undefined) throw busy(row.session_id, row);
}

function ownerOf({ host_id: hostId, pid, hostname }: LeaseRow): LeaseOwner {
  return { hostId, pid, hostname };
}

function busy(sessionId: string, row: LeaseRow): CapstanError {
  const until = new Date(row.expires_at).toISOString();
  return new CapstanError(
    "session_busy",
    // The machine's name is followed by its process id namespace, which is meaningless to people.
    `Session ${sessionId} is in use by process ${row.pid} on ${row.hostname.split("/")[0] ?? ""} (${row.host_id}). ` +
      "Wait for it, or end that process and try again; if it is a server, use it instead (CAPSTAN_URL).",
    { data: { sessionId, holder: ownerOf(row), until }, retryable: true },
  );
}
