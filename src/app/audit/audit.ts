import type { AuditKey, AuditRecord, AuditReport, PublicKey } from "../../core/session/audit.ts";
import type { Environment } from "../../config/project/home.ts";
import { CapstanError } from "../../core/errors.ts";
import { checkAudit } from "../../store/sqlite/audit/audit-check.ts";
import { parseAuditRecord } from "../../store/sqlite/audit/audit-file.ts";
import { type AuditQuery, auditRecords } from "../../store/sqlite/audit/audit-records.ts";
import { toolOutputsIn } from "../../store/sqlite/outputs/tool-outputs.ts";
import { keyIdOf } from "../../store/sqlite/audit/seal-hash.ts";
import { recordReset } from "../../store/sqlite/audit/reset.ts";
import { auditKey, auditKeyPath } from "./audit-key.ts";
import { OutputAudit } from "../audit-parts/output-audit.ts";
import { clock } from "../clock.ts";
import { openStore, outputsPath, storePath } from "../open-store.ts";

export type { AuditQuery } from "../../store/sqlite/audit/audit-records.ts";

export interface AuditLocation {
  readonly home: string;
  readonly environment: Environment;
}

/** Yields everything that an audit checks, as of now. */
export async function* readAudit(place: AuditLocation, query: AuditQuery = {}): AsyncGenerator<AuditRecord> {
  const key = keyOf(place);
  // Read the anchor first: what is signed later may be in the store, but nothing that the anchor names may be missing.
  const anchor = key.anchor();
  const trusted = key.load();
  // Migrates the store to the current version.
  await (await openStore(place.home, place.environment))[Symbol.asyncDispose]();
  yield* auditRecords({ path: storePath(place.home), now: clock.now(), key: trusted, anchor }, query);
}

/** Verifies the log and the outputs saved next to it. */
export async function verifyAudit(place: AuditLocation, query: AuditQuery = {}): Promise<AuditReport> {
  const outputs = new OutputAudit(toolOutputsIn(outputsPath(place.home)));
  return outputs.addTo(await checkAudit(outputs.beside(readAudit(place, query)), () => keyOf(place).load()));
}

/**
 * Verifies lines from `readAudit` without a store. Trusts the given public key (its id, or the key itself in base64),
 * otherwise the first one named in the file.
 */
export function verifyExport(lines: AsyncIterable<string>, key?: string): Promise<AuditReport> {
  return checkAudit(recordsOf(lines), ({ keys }) => {
    const known = keys.map(({ public_key: publicKey }): PublicKey => ({ id: keyIdOf(publicKey), publicKey }));
    if (key === undefined) return known[0];
    const trusted = known.find(({ id, publicKey }) => id === key || publicKey === key);
    if (trusted === undefined)
      throw new CapstanError(
        "invalid_input",
        `The file does not name the key ${key}. Ask the person who created the file for their key.`,
      );
    return trusted;
  });
}

/**
 * Signs that the store's current state is legitimate, whatever the anchor says; creates a new key if the old one is
 * lost.
 */
export async function acceptState(place: AuditLocation, reason: string): Promise<void> {
  await (await openStore(place.home, place.environment))[Symbol.asyncDispose]();
  recordReset({ path: storePath(place.home), clock, key: keyOf(place) }, { kind: "accepted", reason });
}

/** Describes the key without using it. `isLost`: something was signed with a key that no longer exists. */
export function keyState(place: AuditLocation): {
  readonly path: string;
  readonly id?: string;
  readonly isLost: boolean;
} {
  const key = keyOf(place);
  const id = key.load()?.id;
  return { path: key.path, ...(id !== undefined && { id }), isLost: id === undefined && (key.anchor()?.seq ?? 0) > 0 };
}

function keyOf({ home, environment }: AuditLocation): AuditKey {
  return auditKey(auditKeyPath(home, environment));
}

async function* recordsOf(lines: AsyncIterable<string>): AsyncGenerator<AuditRecord> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() !== "") yield parseAuditRecord(line, number);
  }
  if (number === 0) throw new CapstanError("invalid_input", "The file is empty. Export it again.");
}
