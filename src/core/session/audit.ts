/**
 * Makes tampering with the store visible to anyone who has the key: a register of seals, each of which names a session
 * and the end of its log, and an anchor outside the store that records the end of the register.
 */

/** Why a seal was created. */
export type SealKind =
  /** A session was created, its log grew, it was erased. */
  | "created"
  | "head"
  | "deleted"
  /** A backup replaced the store; someone accepted the store in its current state. */
  | "restored"
  | "accepted";

/** One signed entry of the register. */
export interface Seal {
  /** 1, 2, 3 … without gaps. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: SealKind;
  /** Empty for `restored` and `accepted`. */
  readonly session_id: string;
  /** The end of the session's log. For `restored` and `accepted`: the anchor that was valid until then. */
  readonly head_seq: number;
  readonly head_hash: string;
  /** JSON for `restored` and `accepted` (see SealNote), and for `deleted` (its ledger figures). Otherwise empty. */
  readonly note: string;
  /** The hash of the previous seal; empty for the first. */
  readonly previous: string;
  readonly key_id: string;
  readonly hash: string;
  /** Ed25519, in base64, over the text that is hashed. */
  readonly signature: string;
}

export interface SealNote {
  readonly reason: string;
  /** Earlier keys that this seal vouches for: id → public key. */
  readonly keys: Readonly<Record<string, string>>;
}

export interface PublicKey {
  /** The first 16 hex digits of the SHA-256 of the public key. */
  readonly id: string;
  /** SubjectPublicKeyInfo (DER) in base64. */
  readonly publicKey: string;
}

export interface AuditSigner extends PublicKey {
  sign(text: string): string;
}

/** The end of the register when this was written; `seq` 0 before the first seal. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

/** The key and the anchor, kept outside the store. All calls are synchronous, because they run inside a transaction. */
export interface AuditKey {
  readonly path: string;
  /** Undefined if there is no key. Throws if it can't be read. */
  load(): AuditSigner | undefined;
  /** Creates a key and an anchor at 0; returns the key of another process if that was faster. */
  create(): AuditSigner;
  /** Sets a lost or foreign key aside, and creates a new one. */
  replace(): AuditSigner;
  /** Undefined if there is none. Throws if it can't be read. */
  anchor(): Anchor | undefined;
  moveAnchor(anchor: Anchor): void;
}

/**
 * Everything that an audit checks, in this order: the header, all seals, each session and its events, the ledger, the
 * reservations, and the totals.
 */
export type AuditRecord =
  | {
      readonly record: "header";
      readonly capstan_audit: 1;
      readonly made_at: string;
      /** False if only some sessions were requested: the register then has gaps. */
      readonly complete: boolean;
      /** The key of this store first, then earlier ones. */
      readonly keys: readonly { readonly id: string; readonly public_key: string }[];
      readonly anchor: Anchor | null;
    }
  | ({ readonly record: "seal" } & Seal)
  | {
      readonly record: "session";
      readonly session_id: string;
      readonly head_seq: number;
      readonly head_hash: string;
      /** The content was erased; hashes are left. */
      readonly deleted: boolean;
      readonly project: string;
      /** The agent's name; empty if it was erased. */
      readonly agent: string;
      /** Its figures in lists. */
      readonly turns: number;
      readonly usd: number;
    }
  | {
      readonly record: "event";
      readonly session_id: string;
      readonly seq: number;
      /** The event's JSON exactly as saved; empty if it was erased. */
      readonly event: string;
      readonly hash: string;
    }
  | ({ readonly record: "ledger" } & LedgerRecord)
  | ({ readonly record: "reservation" } & ReservationRecord)
  | ({ readonly record: "spend" } & SpendRecord);

/** One model request in the ledger. */
export interface LedgerRecord {
  readonly event_id: string;
  readonly session_id: string;
  readonly seq: number;
  readonly at: number;
  readonly project: string;
  readonly agent: string;
  readonly thread: string;
  readonly model: string;
  readonly tools: string;
  readonly billing: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly cache_write_1h_tokens: number;
  readonly web_searches: number;
  readonly usd: number | null;
  readonly estimated: number;
}

/** The estimated cost of a running request. */
export interface ReservationRecord {
  readonly id: string;
  readonly session_id: string;
  readonly usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_tokens: number;
}

/** A total that budgets are checked against. */
export interface SpendRecord {
  readonly scope: string;
  readonly key: string;
  readonly bucket: number;
  readonly billing: string;
  readonly usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_tokens: number;
  readonly turns: number;
  readonly tool_calls: number;
  readonly unpriced: number;
}

export interface SessionAudit {
  readonly session_id: string;
  readonly status: "ok" | "altered" | "truncated" | "missing";
  readonly events: number;
  /** Events after the last signed head. Their hashes follow from it, but they could still be replaced. */
  readonly unsigned: number;
  readonly erased: boolean;
}

export interface AuditFinding {
  readonly kind: "altered" | "truncated" | "missing" | "register" | "rolled_back" | "key" | "ledger";
  /** Absent if the finding is about the register or the key. */
  readonly session_id?: string;
  /** For a finding about the ledger: the project of the figures. */
  readonly project?: string;
  /** Of the event; of the seal if there is no session. */
  readonly seq?: number;
  readonly problem: string;
  readonly remedy: string;
}

export interface AuditReport {
  readonly sound: boolean;
  readonly key_id: string | null;
  readonly seals: number;
  readonly sessions: readonly SessionAudit[];
  readonly findings: readonly AuditFinding[];
  /** Facts that are not findings: restores, accepted states, changed keys. */
  readonly notes: readonly string[];
}
