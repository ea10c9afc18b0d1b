import type { SQLInputValue } from "node:sqlite";
import type { DeliveryRecord, WebhookStore } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly project: string;
  readonly type: string;
  readonly body: string;
  readonly status: DeliveryRecord["status"];
  readonly attempts: number;
  readonly created_at: number;
  readonly next_at: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

const COLUMNS = "id, webhook_id, project, type, body, status, attempts, created_at, next_at, last_status, last_error";

/** Deliveries of a disabled webhook wait until it is enabled again. */
const DUE = `status = 'waiting' AND next_at <= :now AND leased_until <= :now
  AND webhook_id NOT IN (SELECT id FROM webhooks WHERE disabled_at IS NOT NULL UNION SELECT value FROM json_each(:except))`;

export function deliveryTable(
  database: Database,
): Pick<WebhookStore, "enqueue" | "due" | "recordAttempt" | "prune" | "deliveries"> {
  // The webhook may have been deleted, with its deliveries.
  const insert = database.prepare(
    `INSERT INTO deliveries (${COLUMNS}, leased_until)
     SELECT :id, id, project, :type, :body, :status, :attempts, :createdAt, :nextAt, :lastStatus, :lastError, 0
     FROM webhooks WHERE id = :webhookId AND project = :project ON CONFLICT DO NOTHING`,
  );
  const selectAnyDue = database.prepare(`SELECT 1 FROM deliveries WHERE ${DUE}`);
  const selectDue = database.prepare(
    `SELECT ${COLUMNS} FROM deliveries JOIN (
       SELECT id, row_number() OVER (PARTITION BY webhook_id ORDER BY created_at, id) AS place FROM deliveries WHERE ${DUE}
     ) USING (id) WHERE place <= :limitEach ORDER BY created_at, id LIMIT :limit`,
  );
  const lease = database.prepare("UPDATE deliveries SET leased_until = ? WHERE id = ?");
  // A delivered one stays delivered, whatever a late attempt of another process reports.
  const record = database.prepare(
    `UPDATE deliveries SET status = ?, attempts = ?, next_at = ?, last_status = ?, last_error = ?, leased_until = 0
     WHERE id = ? AND status <> 'delivered'`,
  );
  const prune = database.prepare("DELETE FROM deliveries WHERE status <> 'waiting' AND created_at < ?");
  const selectLog = database.prepare(
    `SELECT ${COLUMNS} FROM deliveries WHERE project = ? AND webhook_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
  );

  return {
    async enqueue(deliveries) {
      database.write(() => {
        for (const delivery of deliveries) insert.run(toParameters(delivery));
      });
    },

    async due(now, { limit, limitEach, except, leaseMs }) {
      const wanted = { now, except: JSON.stringify(except) };
      // Called often, mostly in vain: without this read, every call would wait for the write lock.
      if (database.read(() => selectAnyDue.get(wanted)) === undefined) return [];
      return database.write(() => {
        const rows = selectDue.all<DeliveryRow>({ ...wanted, limit, limitEach });
        for (const { id } of rows) lease.run(now + leaseMs, id);
        return rows.map(toDelivery);
      });
    },

    async recordAttempt(id, { status, attempts, nextAt, lastStatus, lastError }) {
      database.write(() => record.run(status, attempts, nextAt, lastStatus, lastError, id));
    },

    async prune(before) {
      database.write(() => prune.run(before));
    },

    async deliveries(project, webhookId, limit) {
      return database.read(() => selectLog.all<DeliveryRow>(project, webhookId, limit).map(toDelivery));
    },
  };
}

function toParameters(delivery: DeliveryRecord): Record<string, SQLInputValue> {
  const { id, webhookId, project, type, body, status, attempts, createdAt, nextAt, lastStatus, lastError } = delivery;
  return { id, webhookId, project, type, body, status, attempts, createdAt, nextAt, lastStatus, lastError };
}

function toDelivery(row: DeliveryRow): DeliveryRecord {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    project: row.project,
    type: row.type,
    body: row.body,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAt: row.next_at,
    lastStatus: row.last_status,
    lastError: row.last_error,
  };
}
