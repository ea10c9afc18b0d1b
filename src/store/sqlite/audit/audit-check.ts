import type {
  AuditFinding,
  AuditRecord,
  AuditReport,
  Seal,
  PublicKey,
  SessionAudit,
} from "../../../core/session/audit.ts";
import { CapstanError } from "../../../core/errors.ts";
import { RegisterCheck } from "./audit-check-register.ts";
import { missingSession, SessionCheck } from "./audit-check-session.ts";
import { LedgerCheck } from "../ledger-audit/check.ts";

type Header = Extract<AuditRecord, { record: "header" }>;

/** Checks everything that an audit reads, from a store or from an exported file. `key` is the trusted one. */
export async function checkAudit(
  records: AsyncIterable<AuditRecord>,
  trust: (header: Header) => PublicKey | undefined,
): Promise<AuditReport> {
  const check = new AuditCheck(trust);
  for await (const record of records) check.add(record);
  return check.end();
}

class AuditCheck {
  readonly #trust: (header: Header) => PublicKey | undefined;
  readonly #signed = new Map<string, Pick<Seal, "kind" | "head_seq" | "head_hash" | "note">[]>();
  readonly #sessions: SessionAudit[] = [];
  readonly #findings: AuditFinding[] = [];
  #register: RegisterCheck | undefined;
  #ledger = new LedgerCheck(false);
  #key: PublicKey | undefined;
  #session: SessionCheck | undefined;

  constructor(trust: (header: Header) => PublicKey | undefined) {
    this.#trust = trust;
  }

  add(record: AuditRecord): void {
    if (record.record === "header") {
      this.#key = this.#trust(record);
      this.#register = new RegisterCheck({
        key: this.#key,
        anchor: record.anchor ?? undefined,
        complete: record.complete,
      });
      this.#ledger = new LedgerCheck(record.complete);
      return;
    }
    if (this.#register === undefined) throw new CapstanError("invalid_input", "An audit must start with its header.");
    switch (record.record) {
      case "seal": {
        this.#register.add(record);
        if (record.session_id === "") return;
        const signed = this.#signed.get(record.session_id) ?? [];
        const { kind, head_seq, head_hash, note } = record;
        signed.push({ kind, head_seq, head_hash, note });
        this.#signed.set(record.session_id, signed);
        return;
      }
      case "session":
        this.#endSession();
        this.#session = new SessionCheck(record, this.#signed.get(record.session_id) ?? []);
        this.#ledger.session(record, this.#signed.get(record.session_id) ?? []);
        this.#signed.delete(record.session_id);
        return;
      case "event":
        this.#session?.event(record);
        this.#ledger.event(record);
        return;
      case "ledger":
        return this.#ledger.row(record);
      case "reservation":
        return this.#ledger.reservation(record);
      case "spend":
        this.#ledger.sum(record);
    }
  }

  end(): AuditReport {
    if (this.#register === undefined) throw new CapstanError("invalid_input", "There is nothing to audit.");
    this.#endSession();
    for (const [sessionId, signed] of this.#signed) this.#conclude(missingSession(sessionId, signed));
    const ledger = this.#ledger.end();
    const findings = [...this.#register.end(), ...this.#findings, ...ledger.findings];
    return {
      sound: findings.length === 0,
      key_id: this.#key?.id ?? null,
      seals: this.#register.count,
      sessions: this.#sessions,
      findings,
      notes: [...this.#register.notes, ...ledger.notes],
    };
  }

  #endSession(): void {
    if (this.#session !== undefined) this.#conclude(this.#session.end(this.#register?.wasBegun === true));
    this.#session = undefined;
  }

  #conclude({ audit, finding }: { audit: SessionAudit; finding: AuditFinding | undefined }): void {
    this.#sessions.push(audit);
    if (finding !== undefined) this.#findings.push(finding);
  }
}
