import { textOf } from "../../../core/text/text.ts";
import type { SessionEvent } from "../../../core/events/events.ts";
import { initialState, reduce } from "../../../core/session/state.ts";
import type { SessionSummary } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";

/** The fields of a session in lists that come from its events. */
export type Summary = Pick<SessionSummary, "status" | "turns" | "usd" | "firstMessage">;

export const EMPTY_SUMMARY: Summary = {
  status: initialState.status,
  turns: initialState.turns,
  usd: initialState.usd,
  firstMessage: "",
};

/** In UTF-16 units. */
const FIRST_MESSAGE_LENGTH = 120;

/** Agrees with `reduce` because it calls `reduce`, only for the events that matter here. */
export function summarize(summary: Summary, event: SessionEvent): Summary {
  switch (event.type) {
    case "user.message":
      return summary.firstMessage === "" ? { ...summary, firstMessage: beginningOf(textOf(event.content)) } : summary;
    case "session.status_running":
    case "session.status_idle":
    case "session.status_rescheduled":
    case "session.status_terminated":
    case "span.model_request_end": {
      const { firstMessage, ...known } = summary;
      const { status, turns, usd } = reduce({ ...initialState, ...known }, event, 0);
      return { status, turns, usd, firstMessage };
    }
    default:
      return summary;
  }
}

/** One line, safe to print: control characters are removed with white space, and no character is split. */
function beginningOf(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const cut = line.slice(0, FIRST_MESSAGE_LENGTH).replace(/[\ud800-\udbff]$/, "");
  return cut.toWellFormed().trim();
}

interface UnsummarizedRow {
  readonly id: string;
  readonly created_at: number;
}

/** Part of the step to version 2: fills in for existing sessions what appends maintain from now on. */
export function fillSummaries(database: Database): void {
  const sessions = database.prepare("SELECT id, created_at FROM sessions");
  const events = database.prepare("SELECT event FROM events WHERE session_id = ? ORDER BY seq");
  const update = database.prepare(
    "UPDATE sessions SET status = ?, turns = ?, usd = ?, first_message = ?, last_activity_at = ? WHERE id = ?",
  );
  for (const { id, created_at: createdAt } of sessions.all<UnsummarizedRow>()) {
    let summary = EMPTY_SUMMARY;
    let lastActivityAt = createdAt;
    for (const row of events.iterate<{ readonly event: string }>(id)) {
      try {
        const event = JSON.parse(row.event) as SessionEvent;
        summary = summarize(summary, event);
        const time = Date.parse(event.processed_at ?? "");
        if (!Number.isNaN(time)) lastActivityAt = time;
      } catch {
        // One damaged event, which `verify` reports, must not make all sessions inaccessible.
      }
    }
    const { status, turns, usd, firstMessage } = summary;
    update.run(status, turns, usd, firstMessage, lastActivityAt, id);
  }
}
