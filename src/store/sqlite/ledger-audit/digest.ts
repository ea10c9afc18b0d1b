import { hash } from "node:crypto";
import type { LedgerRecord } from "../../../core/session/audit.ts";
import type { Database } from "../file/database.ts";

/** In the order of the table. */
const COLUMNS = [
  "event_id",
  "session_id",
  "seq",
  "at",
  "project",
  "agent",
  "thread",
  "model",
  "tools",
  "billing",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "web_searches",
  "usd",
  "estimated",
] as const satisfies readonly (keyof LedgerRecord)[];

/** A row as text; equal rows have equal texts. */
export function rowText(row: LedgerRecord): string {
  return JSON.stringify(COLUMNS.map((name) => row[name]));
}

/** Of all rows of a session, by `seq` and `event_id`. It is signed when the log that they come from is erased. */
export function ledgerDigest(rows: readonly LedgerRecord[]): string {
  const texts = rows
    .toSorted((a, b) => a.seq - b.seq || (a.event_id < b.event_id ? -1 : 1))
    .map((row) => `${rowText(row)}\n`);
  return hash("sha256", texts.join(""));
}

/** The note in the seal of an erased session. */
export interface DeletionNote {
  /** See `ledgerDigest`. */
  readonly ledger: string;
}

export function deletionNotes(database: Database): (sessionId: string) => string {
  const select = database.prepare("SELECT * FROM ledger WHERE session_id = ?");
  return (sessionId) => {
    const note: DeletionNote = { ledger: ledgerDigest(select.all<LedgerRecord>(sessionId)) };
    return JSON.stringify(note);
  };
}
