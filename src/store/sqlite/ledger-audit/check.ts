import type { AuditFinding, AuditRecord, LedgerRecord, ReservationRecord, Seal } from "../../../core/session/audit.ts";
import type { EventOf, SessionEvent } from "../../../core/events/events.ts";
import { rowOf } from "../ledger/ledger-projection.ts";
import { type DeletionNote, ledgerDigest, rowText } from "./digest.ts";
import { LedgerSums } from "./sums.ts";

type SessionRecord = Extract<AuditRecord, { record: "session" }>;
type EventRecord = Extract<AuditRecord, { record: "event" }>;

interface Erased {
  readonly digest: string | undefined;
  readonly rows: LedgerRecord[];
  readonly project: string;
}

/** What a finding is about. */
interface Subject {
  readonly session_id?: string;
  readonly seq?: number;
  readonly project?: string;
}

const REMEDY =
  "The log says what was spent. Keep the store unchanged, compare its tables ledger, spend and reservations with a backup, and find out who can write to it. Restore a backup to continue.";
/** Further findings are only counted. */
const MOST_FINDINGS = 20;

/**
 * Derives from the logs what the ledger must contain, and compares. The log of an erased session is gone; the seal of
 * its deletion says what its rows were.
 */
export class LedgerCheck {
  readonly #isComplete: boolean;
  /** By the id of the event that ended the request: the possible rows for it. An imported session has them too. */
  readonly #expected = new Map<string, Set<string>>();
  readonly #found = new Set<string>();
  readonly #open = new Map<string, EventOf<"span.model_request_start">["estimate"]>();
  readonly #ended = new Set<string>();
  readonly #erased = new Map<string, Erased>();
  readonly #sums = new LedgerSums();
  readonly #findings: AuditFinding[] = [];
  #unknown = 0;
  #session: SessionRecord | undefined;

  constructor(isComplete: boolean) {
    this.#isComplete = isComplete;
  }

  /** `signed` is everything that was signed about the session. */
  session(record: SessionRecord, signed: readonly Pick<Seal, "kind" | "note">[]): void {
    this.#session = record;
    this.#sums.session(record);
    if (!record.deleted) return;
    const digest = digestIn(signed.find(({ kind }) => kind === "deleted")?.note);
    if (digest === undefined) this.#unknown += 1;
    this.#erased.set(record.session_id, { digest, rows: [], project: record.project });
  }

  event({ session_id: sessionId, seq, event: text }: EventRecord): void {
    const session = this.#session;
    const event = (session?.deleted === false ? parseJson(text) : undefined) as SessionEvent | undefined;
    if (session === undefined || event === undefined) return;
    const { project, agent } = session;
    this.#sums.event({ sessionId, project, agent, event });
    if (event.type === "span.model_request_start") this.#open.set(event.id, event.estimate);
    if (event.type !== "span.model_request_end") return;
    this.#open.delete(event.model_request_start_id);
    this.#ended.add(event.model_request_start_id);
    const rows = this.#expected.get(event.id) ?? new Set();
    rows.add(rowText(rowOf({ sessionId, project, agent, seq }, event)));
    this.#expected.set(event.id, rows);
  }

  row(row: LedgerRecord): void {
    this.#sums.row(row);
    const erased = this.#erased.get(row.session_id);
    this.#found.add(row.event_id);
    if (erased !== undefined) {
      erased.rows.push(row);
      return;
    }
    const expected = this.#expected.get(row.event_id);
    if (expected === undefined)
      this.#fail(row, "the ledger has a request that is not in the log: the row was inserted");
    else if (!expected.has(rowText(row))) this.#fail(row, "the ledger's row differs from the log: it was altered");
  }

  reservation({
    id,
    session_id: sessionId,
    usd,
    input_tokens: input,
    output_tokens: output,
    cache_tokens: cache,
  }: ReservationRecord): void {
    const place = { session_id: sessionId, seq: 0 };
    if (this.#ended.has(id)) this.#fail(place, "an amount is reserved for a request that has ended: it was inserted");
    const estimate = this.#open.get(id);
    if (estimate === undefined) return;
    const isSame =
      estimate.input === input &&
      estimate.output === output &&
      estimate.cache === cache &&
      Math.abs((estimate.usd ?? 0) - usd) < 1e-9;
    if (!isSame) this.#fail(place, "the amount reserved for a request differs from the log: it was altered");
  }

  sum(record: Extract<AuditRecord, { record: "spend" }>): void {
    this.#sums.sum(record);
  }

  end(): { readonly findings: readonly AuditFinding[]; readonly notes: readonly string[] } {
    this.#sums.session(undefined);
    // The row may belong to the session that this one was imported from.
    const missing = this.#isComplete ? [...this.#expected].filter(([eventId]) => !this.#found.has(eventId)) : [];
    for (const [, rows] of missing) {
      const [, sessionId, seq] = JSON.parse([...rows][0] ?? "[]") as [string, string, number];
      this.#fail({ session_id: sessionId, seq }, "a request of the log is not in the ledger: its row was removed");
    }
    for (const [sessionId, { digest, rows, project }] of this.#erased)
      if (digest !== undefined && digest !== ledgerDigest(rows))
        this.#fail(
          { session_id: sessionId, project },
          "the ledger's rows differ from those that were signed when the session was erased",
        );
    const problems = this.#isComplete ? this.#sums.problems(this.#erased.size > 0) : [];
    for (const { project, problem } of problems) this.#fail({ project }, problem);
    const left = this.#findings.length - MOST_FINDINGS;
    const findings = this.#findings.slice(0, MOST_FINDINGS);
    if (left > 0) findings.push({ kind: "ledger", problem: `${left} more findings about the ledger`, remedy: REMEDY });
    const notes =
      this.#unknown === 0
        ? []
        : [`for ${this.#unknown} erased sessions the ledger's rows were not signed, so they are not checked`];
    return { findings, notes };
  }

  #fail({ session_id: id, seq, project }: Subject, problem: string): void {
    this.#findings.push({
      kind: "ledger",
      ...(id !== undefined && { session_id: id }),
      ...(seq !== undefined && seq > 0 && { seq }),
      ...(project !== undefined && { project }),
      problem,
      remedy: REMEDY,
    });
  }
}

function digestIn(note: string | undefined): string | undefined {
  const { ledger } = (parseJson(note ?? "") ?? {}) as Partial<DeletionNote>;
  return typeof ledger === "string" ? ledger : undefined;
}

/** Damaged JSON is a separate finding. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
