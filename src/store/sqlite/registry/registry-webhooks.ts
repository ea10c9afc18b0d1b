import type { WebhookRecord, WebhookStore } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { idTakenError } from "./registry-page.ts";

interface WebhookRow {
  readonly id: string;
  readonly project: string;
  readonly url: string;
  readonly secret: string;
  readonly events: string;
  readonly created_at: number;
  readonly disabled_at: number | null;
}

const COLUMNS = "id, project, url, secret, events, created_at, disabled_at";

export function webhookTable(database: Database): Pick<WebhookStore, "create" | "get" | "list" | "delete" | "disable"> {
  const insert = database.prepare(
    `INSERT INTO webhooks (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const selectOne = database.prepare(`SELECT ${COLUMNS} FROM webhooks WHERE project = ? AND id = ?`);
  const selectMany = database.prepare(`SELECT ${COLUMNS} FROM webhooks WHERE project = ? ORDER BY created_at, id`);
  const remove = database.prepare("DELETE FROM webhooks WHERE project = ? AND id = ?");
  const setDisabled = database.prepare("UPDATE webhooks SET disabled_at = ? WHERE project = ? AND id = ?");

  return {
    async create({ id, project, url, secret, events, createdAt, disabledAt }) {
      const { changes } = database.write(() =>
        insert.run(id, project, url, secret, JSON.stringify(events), createdAt, disabledAt),
      );
      if (changes === 0) throw idTakenError("a webhook", id);
    },

    async get(project, id) {
      return database.read(() => {
        const row = selectOne.get<WebhookRow>(project, id);
        return row && toWebhook(row);
      });
    },

    async list(project) {
      return database.read(() => selectMany.all<WebhookRow>(project).map(toWebhook));
    },

    async delete(project, id) {
      return database.write(() => remove.run(project, id).changes > 0);
    },

    async disable(project, id, at) {
      return database.write(() => setDisabled.run(at, project, id).changes > 0);
    },
  };
}

function toWebhook(row: WebhookRow): WebhookRecord {
  return {
    id: row.id,
    project: row.project,
    url: row.url,
    secret: row.secret,
    events: JSON.parse(row.events) as readonly string[],
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
