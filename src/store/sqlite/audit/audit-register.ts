import type { Anchor, AuditKey, AuditSigner, Seal, SealKind, SealNote } from "../../../core/session/audit.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import { CapstanError } from "../../../core/errors.ts";
import { sealHash, sealText, signatureCheck } from "./seal-hash.ts";
import type { Database } from "../file/database.ts";

export interface Head {
  readonly seq: number;
  readonly hash: string;
}

type Last = Pick<Seal, "seq" | "hash" | "key_id">;

/** The table of seals. Every method except `moveAnchor` and `reset` must run inside a transaction. */
export interface Register {
  /** Signs the end of a session's log. Throws, so that nothing is saved, if the key is lost or is not the store's. */
  sign(kind: SealKind, sessionId: string, head: Head, note?: string): void;
  /** Saves the end of the register outside the store. Never moves an anchor that the register does not lead to. */
  moveAnchor(): void;
  /**
   * Records that the state of the store is legitimate although its anchor says otherwise; `accepted` creates a new key
   * if there is none.
   */
  reset(kind: "restored" | "accepted", reason: string): void;
}

export function openRegister(database: Database, { clock, key }: { clock: Clock; key: AuditKey }): Register {
  const selectLast = database.prepare("SELECT seq, hash, key_id FROM audit_seals ORDER BY seq DESC LIMIT 1");
  const selectHash = database.prepare("SELECT hash FROM audit_seals WHERE seq = ?");
  const selectResets = database.prepare(
    "SELECT * FROM audit_seals WHERE kind IN ('restored', 'accepted') AND head_seq = ? AND head_hash = ?",
  );
  const selectSessions = database.prepare(
    "SELECT id, head_seq AS seq, head_hash AS hash, deleted_at AS deletedAt FROM sessions WHERE id <> ?",
  );
  const selectKeys = database.prepare("SELECT id, public_key AS publicKey FROM audit_keys");
  const insertKey = database.prepare("INSERT INTO audit_keys (id, public_key) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const insert = database.prepare(
    `INSERT INTO audit_seals (seq, at, kind, session_id, head_seq, head_hash, note, previous, key_id, hash, signature)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  let loaded: AuditSigner | undefined;

  const last = (): Last | undefined => selectLast.get<Last>();

  /** A key is created only if nothing was ever signed. */
  function loadOrCreate(end: Last | undefined): AuditSigner {
    const known = key.load();
    if (known !== undefined) return known;
    if (end !== undefined || (key.anchor()?.seq ?? 0) > 0) throw lostKey(key.path);
    return key.create();
  }

  function signer(end: Last | undefined): AuditSigner {
    loaded ??= loadOrCreate(end);
    // Someone may have accepted a new key while this process ran.
    if (end !== undefined && end.key_id !== loaded.id) loaded = loadOrCreate(end);
    if (end !== undefined && end.key_id !== loaded.id) throw foreignKey(key.path, { expected: end.key_id, loaded });
    return loaded;
  }

  function write(by: AuditSigner, entry: Pick<Seal, "kind" | "session_id" | "head_seq" | "head_hash" | "note">) {
    const end = last();
    const { kind, session_id: session, head_seq: headSeq, head_hash: headHash, note } = entry;
    const seq = (end?.seq ?? 0) + 1;
    const at = clock.now();
    const previous = end?.hash ?? "";
    const text = sealText({ ...entry, seq, at, previous, key_id: by.id });
    if (end?.key_id !== by.id) insertKey.run(by.id, by.publicKey);
    const hashed = sealHash(text);
    insert.run(seq, at, kind, session, headSeq, headHash, note, previous, by.id, hashed, by.sign(text));
  }

  /** Adds sessions from before the register existed; any other session that is not in it was inserted from outside. */
  function adoptAll(by: AuditSigner, exceptId: string): void {
    const rows = selectSessions.all<Head & { id: string; deletedAt: number | null }>(exceptId);
    for (const { id, seq, hash, deletedAt } of rows)
      write(by, {
        kind: deletedAt === null ? "head" : "deleted",
        session_id: id,
        head_seq: seq,
        head_hash: hash,
        note: "",
      });
  }

  /** A reset that names the anchor is trusted only with a signature. */
  function wasReset(anchor: Anchor): boolean {
    const by = (loaded ??= key.load());
    const isSigned = by && signatureCheck(by);
    const rows = selectResets.all<Seal>(anchor.seq, anchor.hash);
    return rows.some((row) => row.key_id === by?.id && isSigned?.(sealText(row), row.signature) === true);
  }

  return {
    sign(kind, sessionId, { seq, hash }, note = "") {
      const end = last();
      const by = signer(end);
      if (end === undefined) adoptAll(by, sessionId);
      write(by, { kind, session_id: sessionId, head_seq: seq, head_hash: hash, note });
    },

    moveAnchor() {
      // Under the write lock, so that no process replaces a newer end with an older one.
      database.write(() => {
        const end = last();
        const anchor = key.anchor();
        if (end === undefined || anchor === undefined || anchor.seq === end.seq) return;
        const row = selectHash.get<{ hash: string }>(anchor.seq);
        if (anchor.seq === 0 || row?.hash === anchor.hash || wasReset(anchor))
          key.moveAnchor({ seq: end.seq, hash: end.hash });
      });
    },

    reset(kind, reason) {
      database.write(() => {
        const end = last();
        const by = kind === "accepted" ? (ifReadable(() => key.load()) ?? key.replace()) : loadOrCreate(end);
        const others = selectKeys.all<{ id: string; publicKey: string }>().filter(({ id }) => id !== by.id);
        const note: SealNote = {
          reason,
          keys: Object.fromEntries(others.map(({ id, publicKey }) => [id, publicKey])),
        };
        const { seq, hash } = ifReadable(() => key.anchor()) ?? { seq: 0, hash: "" };
        if (end === undefined) adoptAll(by, "");
        write(by, { kind, session_id: "", head_seq: seq, head_hash: hash, note: JSON.stringify(note) });
        loaded = by;
      });
      // Only when the record is on disk; a crash before that leaves the old anchor, which the record names.
      const end = database.read(last);
      if (end !== undefined) key.moveAnchor({ seq: end.seq, hash: end.hash });
    },
  };
}

/** A user who accepts a state knows that something is lost. */
function ifReadable<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function lostKey(path: string): CapstanError {
  return new CapstanError(
    "store_failed",
    `The audit key ${path} is missing, but the store has heads that were signed with it. Nothing was saved. Restore the key ` +
      "from a backup, or set CAPSTAN_AUDIT_KEY_FILE to its path. If it is lost for good: capstan audit accept",
    { data: { path } },
  );
}

function foreignKey(path: string, { expected, loaded }: { expected: string; loaded: AuditSigner }): CapstanError {
  return new CapstanError(
    "store_failed",
    `The audit key ${path} (${loaded.id}) is not the one that signed this store (${expected}). Nothing was saved. Restore the ` +
      "right key, or set CAPSTAN_AUDIT_KEY_FILE to its path. If it is lost for good: capstan audit accept",
    { data: { path, expected, found: loaded.id } },
  );
}
