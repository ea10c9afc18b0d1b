import { setImmediate as nextTick } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type {
  Anchor,
  AuditRecord,
  LedgerRecord,
  PublicKey,
  ReservationRecord,
  Seal,
  SpendRecord,
} from "../../../core/session/audit.ts";
import { CapstanError } from "../../../core/errors.ts";
import { type EventRow, SELECT_EVENTS } from "../sessions/events.ts";
import { prepareIn } from "../file/database.ts";
import { storeFailure } from "../file/failure.ts";

/** Rows per read; other work runs in between. */
const PAGE = 1_000;

export interface AuditQuery {
  /** A session id, or its start or end. */
  readonly session?: string | undefined;
  /** Only sessions with activity since then, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

export interface AuditSource {
  /** The store's file, of the current version. */
  readonly path: string;
  readonly now: number;
  /** The trusted key; undefined if it is lost. */
  readonly key: PublicKey | undefined;
  /** Read before this call, so that later additions to the store do not contradict it. */
  readonly anchor: Anchor | undefined;
}

interface SessionRow {
  readonly id: string;
  readonly head_seq: number;
  readonly head_hash: string;
  readonly deleted_at: number | null;
  readonly project: string;
  readonly agent: string;
  readonly turns: number;
  readonly usd: number;
}

/** Everything that an audit needs, read from one state of the file while others continue to write. */
export async function* auditRecords(source: AuditSource, query: AuditQuery = {}): AsyncGenerator<AuditRecord> {
  using database = new DatabaseSync(source.path, { readOnly: true });
  try {
    // Everything until the end is read as of here.
    database.exec("BEGIN");
    yield* recordsIn(database, source, query);
  } catch (thrown) {
    throw storeFailure(thrown, source.path);
  }
}

async function* recordsIn(
  database: DatabaseSync,
  { key, anchor, now }: AuditSource,
  { session, since }: AuditQuery,
): AsyncGenerator<AuditRecord> {
  const only = session === undefined ? undefined : findSession(database, session);
  const isChosen = (row: Pick<SessionRow, "id">): boolean => only === undefined || row.id === only;
  const selectSessions = prepareIn(
    database,
    `SELECT id, head_seq, head_hash, deleted_at, project, coalesce(agent ->> '$.name', '') AS agent, turns, usd
         FROM sessions WHERE last_activity_at >= ? ORDER BY id`,
  );
  const sessions = selectSessions.all<SessionRow>(since ?? 0).filter(isChosen);
  const isComplete = only === undefined && since === undefined;
  const wanted = new Set(only === undefined ? sessions.map(({ id }) => id) : [only]);
  const others = prepareIn(database, "SELECT id, public_key FROM audit_keys ORDER BY id").all<{
    readonly id: string;
    readonly public_key: string;
  }>();
  yield {
    record: "header",
    capstan_audit: 1,
    made_at: new Date(now).toISOString(),
    complete: isComplete,
    keys: [
      ...(key === undefined ? [] : [{ id: key.id, public_key: key.publicKey }]),
      ...others.filter(({ id }) => id !== key?.id).map((other) => ({ ...other })),
    ],
    anchor: anchor ?? null,
  };
  const selectSeals = prepareIn(database, "SELECT * FROM audit_seals WHERE seq > ? ORDER BY seq LIMIT ?");
  for await (const row of readPages((after) => selectSeals.all<Seal>(after, PAGE)))
    // Resets vouch for keys, so they are needed whatever was asked for.
    if (isComplete || wanted.has(row.session_id) || row.session_id === "") yield { record: "seal", ...row };
  const selectEvents = prepareIn(database, SELECT_EVENTS);
  for (const row of sessions) {
    const { id, head_seq, head_hash, deleted_at: deletedAt, ...shown } = row;
    yield { record: "session", session_id: id, head_seq, head_hash, deleted: deletedAt !== null, ...shown };
    const page = (after: number): EventRow[] => selectEvents.all<EventRow>(id, after, Number.MAX_SAFE_INTEGER, PAGE);
    for await (const event of readPages(page)) yield { record: "event", session_id: id, ...event };
  }
  yield* ledgerRecords(database, isComplete ? undefined : wanted);
}

/** Of these sessions, or of all; totals belong to no session, and are only included with all of them. */
async function* ledgerRecords(
  database: DatabaseSync,
  wanted: ReadonlySet<string> | undefined,
): AsyncGenerator<AuditRecord> {
  let rows = 0;
  const isWanted = (row: Pick<LedgerRecord, "session_id">): boolean => wanted?.has(row.session_id) !== false;
  for (const row of prepareIn(database, "SELECT * FROM ledger ORDER BY event_id").iterate<LedgerRecord>()) {
    if (isWanted(row)) yield { record: "ledger", ...row };
    if (++rows % PAGE === 0) await nextTick();
  }
  const reservations = prepareIn(
    database,
    "SELECT id, session_id, usd, input_tokens, output_tokens, cache_tokens FROM reservations ORDER BY id",
  );
  for (const row of reservations.all<ReservationRecord>()) if (isWanted(row)) yield { record: "reservation", ...row };
  if (wanted !== undefined) return;
  for (const row of prepareIn(database, "SELECT * FROM spend").iterate<SpendRecord>())
    yield { record: "spend", ...row };
}

async function* readPages<Row extends { readonly seq: number }>(read: (after: number) => Row[]): AsyncGenerator<Row> {
  for (let after = 0; ;) {
    const rows = read(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.seq;
    await nextTick();
  }
}

/** Also finds one that is erased or exists only in the register. */
function findSession(database: DatabaseSync, given: string): string {
  const select = prepareIn(
    database,
    "SELECT id FROM sessions UNION SELECT session_id FROM audit_seals WHERE session_id <> ''",
  );
  const rows = select.all<{ readonly id: string }>();
  const found = rows.map(({ id }) => id).filter((id) => id.startsWith(given) || id.endsWith(given));
  const [only, ...others] = found.includes(given) ? [given] : found;
  if (only === undefined)
    throw new CapstanError("not_found", `Session ${given} does not exist. See: capstan sessions list`);
  if (others.length > 0)
    throw new CapstanError("invalid_input", `${given} matches ${found.length} sessions. Give more of the id.`);
  return only;
}
