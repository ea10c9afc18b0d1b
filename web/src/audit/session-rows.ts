import type { WireAuditReport, WireSession } from "../../../src/client/index.ts";
import { nameOf } from "../session/session-name.ts";
import { oneLine } from "./one-line.ts";

type Audited = WireAuditReport["sessions"][number];

/** A row of the audit table. */
export interface SessionRow extends Audited {
  /** Undefined if only the log's hashes are left. */
  readonly session: WireSession | undefined;
}

export function sessionName(session: WireSession): string {
  return oneLine(nameOf(session, `Session of ${session.agent.name}`), 120);
}

/** Problems first, then the most recently active. */
export function sessionRows(audited: readonly Audited[], sessions: readonly WireSession[]): SessionRow[] {
  const place = new Map(sessions.map(({ id }, index) => [id, index] as const));
  return audited
    .map((one) => ({ ...one, session: sessions[place.get(one.session_id) ?? -1] }))
    .toSorted(
      (one, other) =>
        Number(one.status === "ok") - Number(other.status === "ok") ||
        (place.get(one.session_id) ?? Infinity) - (place.get(other.session_id) ?? Infinity) ||
        one.session_id.localeCompare(other.session_id),
    );
}

/** Rows that contain all words in their id, title, first message or agent name. */
export function foundRows(rows: readonly SessionRow[], search: string): readonly SessionRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ session_id: id, session }) => {
    const text = `${id}\n${session === undefined ? "" : `${session.title ?? ""}\n${session.first_message}\n${session.agent.name}`}`;
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}
