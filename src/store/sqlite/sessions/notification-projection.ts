import { type Notification, notificationBody } from "../../../core/session/notification.ts";
import type { Database } from "../file/database.ts";

interface Happened {
  readonly sessionId: string;
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of what happened, such as an event: the notification's own id is derived from it. */
  readonly sourceId: string;
  readonly notifications: readonly Notification[];
}

interface WebhookRow {
  readonly id: string;
  readonly events: string;
}

/** Part of a write: notifications are saved together with what happened, or not at all. */
export function notificationProjection(database: Database): (happened: Happened) => void {
  const select = database.prepare("SELECT id, events FROM webhooks WHERE project = ? AND disabled_at IS NULL");
  const insert = database.prepare(
    `INSERT INTO deliveries (id, webhook_id, project, type, body, status, attempts, created_at, next_at, leased_until)
     VALUES (:id, :webhookId, :project, :type, :body, 'waiting', 0, :at, :at, 0) ON CONFLICT DO NOTHING`,
  );
  return ({ sessionId, project, at, sourceId, notifications }) => {
    if (notifications.length === 0) return;
    const webhooks = select.all<WebhookRow>(project);
    for (const { id: webhookId, events } of webhooks) {
      const wanted = JSON.parse(events) as readonly string[];
      for (const notification of notifications) {
        const { type } = notification;
        if (wanted.length > 0 && !wanted.includes(type)) continue;
        const id = `wevt_${sourceId}_${type}`;
        const body = notificationBody({ id, sessionId, project, at: new Date(at).toISOString(), notification });
        insert.run({ id: `dlv_${webhookId}_${id}`, webhookId, project, type, body, at });
      }
    }
  };
}
