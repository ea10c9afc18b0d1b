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
import { OutputAudit } from "../audit-parts/outputs.ts";
import { clock } from "../clock.ts";
import { openStore, outputsPath, storePath } from "../open-store.ts";

export type { AuditQuery } from "../../store/sqlite/audit/audit-records.ts";

export interface Place {
  readonly home: string;
  readonly environment: Environment;
}

/** Everything an audit looks at, as of now. */
export async function* readAudit(place: Place, query: AuditQuery = {}): AsyncGenerator<AuditRecord> {
  const key = keyOf(place);
  // The anchor first: what is signed after this may be in the store, and nothing that it names may be absent.
  const anchor = key.anchor();
  const trusted = key.load();
  // Makes a store of the current version of what is there.
  await (await openStore(place.home, place.environment))[Symbol.asyncDispose]();
  yield* auditRecords({ path: storePath(place.home), now: clock.now(), key: trusted, anchor }, query);
}

/** The log, and what is kept beside it. */
export async function verifyAudit(place: Place, query: AuditQuery = {}): Promise<AuditReport> {
  const outputs = new OutputAudit(toolOutputsIn(outputsPath(place.home)));
  return outputs.added(await checkAudit(outputs.beside(readAudit(place, query)), () => keyOf(place).load()));
}

/**
 * Checks lines that `readAudit` gave, without a store. Trusted is the public key that is given (its id, or itself in
 * base64), else the one that the file itself names first.
 */
export function verifyExport(lines: AsyncIterable<string>, key?: string): Promise<AuditReport> {
  return checkAudit(recordsOf(lines), ({ keys }) => {
    const known = keys.map(({ public_key: publicKey }): PublicKey => ({ id: keyIdOf(publicKey), publicKey }));
    if (key === undefined) return known[0];
    const trusted = known.find(({ id, publicKey }) => id === key || publicKey === key);
    if (trusted === undefined)
      throw new CapstanError(
        "invalid_input",
        `The file does not name the key ${key}. Ask whoever made it for their key.`,
      );
    return trusted;
  });
}

/** Signs that the state of the store is legitimate, whatever the anchor says; makes a new key when the old one is lost. */
export async function acceptState(place: Place, reason: string): Promise<void> {
  await (await openStore(place.home, place.environment))[Symbol.asyncDispose]();
  recordReset({ path: storePath(place.home), clock, key: keyOf(place) }, { kind: "accepted", reason });
}

/** What can be told of the key without using it. `isLost`: something was signed with a key that is not there. */
export function keyState(place: Place): { readonly path: string; readonly id?: string; readonly isLost: boolean } {
  const key = keyOf(place);
  const id = key.load()?.id;
  return { path: key.path, ...(id !== undefined && { id }), isLost: id === undefined && (key.anchor()?.seq ?? 0) > 0 };
}

function keyOf({ home, environment }: Place): AuditKey {
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
