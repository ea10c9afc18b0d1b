import type { SessionEvent } from "../../../core/events/events.ts";
import type { Database } from "../file/database.ts";
import { LEDGER_TABLES, spendProjection } from "./ledger-projection.ts";

interface SessionRow {
  readonly id: string;
  readonly project: string;
  readonly agent: string;
}

/** The step to version 3: the tables, filled with the cost of existing sessions. */
export function addLedgerTables(database: Database): void {
  database.exec(LEDGER_TABLES);
  const project = spendProjection(database);
  const sessions = database.prepare(
    "SELECT id, project, coalesce(agent ->> '$.name', '') AS agent FROM sessions WHERE deleted_at IS NULL",
  );
  const events = database.prepare("SELECT seq, event FROM events WHERE session_id = ? ORDER BY seq");
  for (const { id, project: name, agent } of sessions.all<SessionRow>()) {
    let idle = true;
    for (const row of events.iterate<{ readonly seq: number; readonly event: string }>(id)) {
      try {
        const event = JSON.parse(row.event) as SessionEvent;
        const turns = event.type === "session.status_running" && idle ? 1 : 0;
        if (event.type.startsWith("session.status_")) idle = event.type === "session.status_idle";
        project({ sessionId: id, project: name, agent, seq: row.seq, event, turns });
      } catch {
        // One damaged event, which `verify` reports, must not make all sessions inaccessible.
      }
    }
  }
}
