import type { SessionEvent } from "../events/events.ts";

/** What a webhook receives about a session, in the vocabulary of the API's webhooks. */
export interface Notification {
  readonly type: NotificationType;
  /** Facts besides the ids, such as why a turn stopped. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The last one is specific to Capstan: the API has no counterpart. */
export const NOTIFICATION_TYPES = [
  "session.created",
  "session.updated",
  "session.archived",
  "session.deleted",
  "session.status_run_started",
  "session.status_rescheduled",
  "session.status_idled",
  "session.status_terminated",
  "session.requires_action",
  "session.budget_reached",
  "session.thread_created",
  "session.thread_idled",
  "session.thread_terminated",
  "session.error",
] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** Most events cause no notification. */
export function notificationsOf(event: SessionEvent): readonly Notification[] {
  switch (event.type) {
    case "session.status_running":
      return event.goes_on === true ? [] : [{ type: "session.status_run_started", facts: {} }];
    case "session.status_rescheduled":
      return [{ type: "session.status_rescheduled", facts: {} }];
    case "session.status_terminated":
      return [{ type: "session.status_terminated", facts: {} }];
    case "session.status_idle": {
      const facts = { stop_reason: event.stop_reason };
      const { type } = event.stop_reason;
      return [
        { type: "session.status_idled", facts },
        ...(type === "requires_action" || type === "budget_reached"
          ? [{ type: `session.${type}`, facts } as const]
          : []),
      ];
    }
    case "session.error":
      // No free text: the content of a session stays there, and is erased with it.
      return [{ type: "session.error", facts: { error: { type: event.error.type, code: event.error.code } } }];
    case "session.thread_created":
      return [{ type: "session.thread_created", facts: threadOf(event) }];
    case "session.thread_status_idle":
      return [{ type: "session.thread_idled", facts: threadOf(event) }];
    case "session.thread_status_terminated":
      return [{ type: "session.thread_terminated", facts: threadOf(event) }];
    case "session.updated":
      return [{ type: "session.updated", facts: {} }];
    case "capstan.session_archived":
      return [{ type: "session.archived", facts: {} }];
    default:
      return [];
  }
}

function threadOf({ session_thread_id }: { readonly session_thread_id: string }): Record<string, string> {
  return { session_thread_id };
}

export interface Told {
  /** Of the notification: the same for every address and every attempt. */
  readonly id: string;
  readonly sessionId: string;
  readonly project: string;
  /** ISO 8601. */
  readonly at: string;
  readonly notification: Notification;
}

/** The body of a delivery. The API's `organization_id` has no counterpart here. */
export function notificationBody({ id, sessionId, project, at, notification: { type, facts } }: Told): string {
  const data = { ...facts, id: sessionId, type, organization_id: "capstan", workspace_id: project };
  return JSON.stringify({ type: "event", id, created_at: at, data });
}
