import type { AuditFinding, AuditRecord, Seal, SessionAudit } from "../../../core/session/audit.ts";
import { ERASED } from "../sessions/erase.ts";
import { eventHash, genesisHash } from "./hash-chain.ts";

type SessionRecord = Extract<AuditRecord, { record: "session" }>;
type EventRecord = Extract<AuditRecord, { record: "event" }>;
type Signed = Pick<Seal, "kind" | "head_seq" | "head_hash">;

const SHA256 = /^[0-9a-f]{64}$/;
const REMEDY = {
  altered:
    "Keep the store unchanged, export it, compare it with a backup, and find out who can write to it. Restore a backup to continue.",
  missing: "Keep the store unchanged, look for the session in a backup, and find out who can write to it.",
} as const;

/** Compares one session's log with everything that was signed about it, and keeps the first problem. */
export class SessionCheck {
  readonly #session: SessionRecord;
  readonly #signedAt: ReadonlyMap<number, readonly Signed[]>;
  readonly #lastSigned: number;
  readonly #isRegistered: boolean;
  #seq = 0;
  #hash: string;
  #finding: AuditFinding | undefined;

  constructor(session: SessionRecord, signed: readonly Signed[]) {
    this.#session = session;
    this.#signedAt = Map.groupBy(signed, (head) => head.head_seq);
    this.#lastSigned = Math.max(0, ...this.#signedAt.keys());
    this.#isRegistered = signed.length > 0;
    this.#hash = genesisHash(session.session_id);
    const isDeleted = signed.some(({ kind }) => kind === "deleted");
    if (isDeleted && !session.deleted) this.#fail("altered", 0, "the session was erased but exists again");
    if (!isDeleted && session.deleted && this.#isRegistered)
      this.#fail("altered", 1, "the events were erased, but not by Capstan: no deletion is signed");
    this.#compareSigned();
  }

  event(row: EventRecord): void {
    if (this.#finding !== undefined) return;
    const seq = this.#seq + 1;
    if (row.seq !== seq) return this.#fail("altered", seq, "the event is missing");
    const wrong = this.#session.deleted ? notErased(row) : mismatch(row, this.#hash);
    if (wrong !== undefined) return this.#fail("altered", seq, wrong);
    this.#seq = seq;
    this.#hash = row.hash;
    this.#compareSigned();
  }

  /** After the last event. `hasRegister` is false for a store that was never signed. */
  end(hasRegister: boolean): { readonly audit: SessionAudit; readonly finding: AuditFinding | undefined } {
    const { session_id: sessionId, head_seq: headSeq, head_hash: headHash, deleted } = this.#session;
    if (this.#finding === undefined) {
      const expected = Math.max(this.#lastSigned, headSeq);
      if (this.#seq < expected)
        this.#fail(
          "truncated",
          this.#seq + 1,
          `the log was truncated: it had at least ${expected} events, ${this.#seq} are left`,
        );
      else if (this.#seq > headSeq)
        this.#fail("altered", headSeq + 1, "the event comes after the end that the session recorded");
      else if (this.#hash !== headHash)
        this.#fail("altered", this.#seq, "the log does not end with the hash that the session recorded");
      else if (!this.#isRegistered && hasRegister)
        this.#fail("altered", 0, "the session is not in the register: it was inserted into the store from outside");
    }
    const finding = this.#finding;
    const status = finding === undefined ? "ok" : finding.kind === "truncated" ? "truncated" : "altered";
    const unsigned = Math.max(0, this.#seq - this.#lastSigned);
    return { audit: { session_id: sessionId, status, events: this.#seq, unsigned, erased: deleted }, finding };
  }

  #compareSigned(): void {
    const heads = this.#signedAt.get(this.#seq) ?? [];
    if (heads.some((head) => head.head_hash !== this.#hash))
      this.#fail("altered", this.#seq, "the hash is not the one that was signed: the log was rewritten up to here");
  }

  #fail(kind: "altered" | "truncated", seq: number, problem: string): void {
    this.#finding ??= { kind, session_id: this.#session.session_id, seq, problem, remedy: REMEDY.altered };
  }
}

/** A session that was signed and no longer exists. */
export function missingSession(
  sessionId: string,
  signed: readonly Signed[],
): {
  readonly audit: SessionAudit;
  readonly finding: AuditFinding;
} {
  const events = Math.max(0, ...signed.map((head) => head.head_seq));
  return {
    audit: { session_id: sessionId, status: "missing", events: 0, unsigned: 0, erased: false },
    finding: {
      kind: "missing",
      session_id: sessionId,
      seq: events,
      problem: `the session is missing: it had at least ${events} events, and no deletion is recorded`,
      remedy: REMEDY.missing,
    },
  };
}

function mismatch({ session_id: sessionId, seq, event, hash }: EventRecord, previous: string): string | undefined {
  return eventHash({ previous, sessionId, seq, text: event }) === hash
    ? undefined
    : "the event does not match its hash: it was altered, inserted or moved";
}

/** A deleted session still has its hashes; without the events, only the signed ones can be compared. */
function notErased({ event, hash }: EventRecord): string | undefined {
  if (event !== ERASED) return "the event was inserted into a session that was erased";
  return SHA256.test(hash) ? undefined : "the hash of the erased event was altered";
}
