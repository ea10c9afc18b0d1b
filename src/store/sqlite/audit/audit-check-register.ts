import type { Anchor, AuditFinding, Seal, SealNote, PublicKey } from "../../../core/session/audit.ts";
import { sealHash, sealText, signatureCheck } from "./seal-hash.ts";

type Check = (text: string, signature: string) => boolean;

const REMEDY =
  "Keep the store unchanged, compare its register with an export or a backup, and find out who can write to it. Restore a backup to continue.";

export interface RegisterOptions {
  readonly key: PublicKey | undefined;
  readonly anchor: Anchor | undefined;
  /** False if the register has gaps because only some sessions are checked. */
  readonly complete: boolean;
}

/** Follows the register, and keeps the first problem. */
export class RegisterCheck {
  readonly #options: RegisterOptions;
  readonly #checks = new Map<string, Check>();
  /** Signed by keys that nobody has vouched for so far. */
  readonly #unproven = new Map<string, Seal[]>();
  readonly #vouched = new Map<string, string>();
  readonly notes: string[] = [];
  readonly #findings: AuditFinding[] = [];
  #seq = 0;
  #hash = "";
  #count = 0;
  #anchorSeen: boolean;

  constructor(options: RegisterOptions) {
    this.#options = options;
    this.#anchorSeen = (options.anchor?.seq ?? 0) === 0;
    const check = options.key && signatureCheck(options.key);
    if (options.key !== undefined && check !== undefined) this.#checks.set(options.key.id, check);
  }

  get count(): number {
    return this.#count;
  }

  /** Whether anything was ever signed here. */
  get wasBegun(): boolean {
    return this.#count > 0 || (this.#options.anchor?.seq ?? 0) > 0;
  }

  add(seal: Seal): void {
    this.#count += 1;
    const { anchor, complete } = this.#options;
    const text = sealText(seal);
    if (sealHash(text) !== seal.hash) this.#fail(seal.seq, "the seal does not match its hash: it was altered");
    else if (complete && seal.seq !== this.#seq + 1) this.#fail(this.#seq + 1, "the seal is missing");
    else if (complete && seal.previous !== this.#hash)
      this.#fail(seal.seq, "the seal does not follow from the previous one: a seal was replaced or removed");
    else this.#prove(seal, text);
    this.#seq = seal.seq;
    this.#hash = seal.hash;
    if (anchor?.seq === seal.seq && anchor.hash === seal.hash) this.#anchorSeen = true;
  }

  end(): readonly AuditFinding[] {
    const { key, anchor, complete } = this.#options;
    for (const [id, publicKey] of this.#vouched) this.#proveLater(id, publicKey);
    if (this.#count > 0 && key === undefined)
      this.#findings.push({
        kind: "key",
        problem: "the audit key is missing, so no signature could be checked",
        remedy:
          "Restore the key from a backup, or set CAPSTAN_AUDIT_KEY_FILE to its path. If it is lost for good: capstan audit accept",
      });
    else
      for (const [id, [first]] of this.#unproven)
        this.#fail(first?.seq ?? 0, `signed with a key that is not this store's (${id})`, "key");
    if (complete && this.#count > 0 && anchor === undefined)
      this.#findings.push({
        kind: "key",
        problem: "the anchor next to the key, which records the end of the register, is missing",
        remedy: "Restore it from a backup. If it is lost for good: capstan audit accept",
      });
    if (complete && anchor !== undefined && !this.#anchorSeen)
      this.#findings.push({
        kind: "rolled_back",
        seq: anchor.seq,
        problem: `the register ended at seal ${anchor.seq} and now ${this.#seq < anchor.seq ? `ends at ${this.#seq}` : "has a different one there"}: the store was reset to an earlier state or replaced`,
        remedy:
          "If you did this, record it: capstan audit accept. If not, restore the newest backup with: capstan restore FILE",
      });
    return this.#findings;
  }

  #prove(seal: Seal, text: string): void {
    const check = this.#checks.get(seal.key_id);
    if (check === undefined) {
      const others = this.#unproven.get(seal.key_id) ?? [];
      others.push(seal);
      this.#unproven.set(seal.key_id, others);
    } else if (!check(text, seal.signature)) this.#fail(seal.seq, "the signature is not valid: it was forged");
    else if (seal.kind === "restored" || seal.kind === "accepted") this.#reset(seal);
  }

  /** Trusted because it is signed with the trusted key. */
  #reset({ kind, at, note, head_seq: headSeq, head_hash: headHash }: Seal): void {
    const { reason, keys } = JSON.parse(note) as SealNote;
    for (const [id, publicKey] of Object.entries(keys)) this.#vouched.set(id, publicKey);
    const { anchor } = this.#options;
    if (anchor?.seq === headSeq && anchor.hash === headHash) this.#anchorSeen = true;
    this.notes.push(`${new Date(at).toISOString()} ${kind}: ${reason}`);
  }

  #proveLater(id: string, publicKey: string): void {
    const check = signatureCheck({ id, publicKey });
    if (check === undefined) return;
    for (const seal of this.#unproven.get(id) ?? [])
      if (!check(sealText(seal), seal.signature)) this.#fail(seal.seq, "the signature is not valid: it was forged");
    if (this.#unproven.delete(id)) this.notes.push(`earlier seals are signed with the key ${id}`);
  }

  #fail(seq: number, problem: string, kind: "register" | "key" = "register"): void {
    // One break causes all later ones.
    if (this.#findings.length === 0)
      this.#findings.push({ kind, seq, problem: `seal ${seq} of the register: ${problem}`, remedy: REMEDY });
  }
}
