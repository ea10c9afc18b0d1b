import { join } from "node:path";
import type { Environment } from "../config/project/home.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { Store } from "../core/ports/store.ts";
import { recordReset } from "../store/sqlite/audit/reset.ts";
import { restoreStore } from "../store/sqlite/file/restore.ts";
import { openSqliteReader, openSqliteStore } from "../store/sqlite/store.ts";
import { auditKey, auditKeyPath } from "./audit/audit-key.ts";
import { clock } from "./clock.ts";

export function storePath(home: string): string {
  return join(home, "capstan.db");
}

/** Next to the store: the full outputs of tools. */
export function outputsPath(home: string): string {
  return join(home, "outputs");
}

/** Opens the store alone, for work without agents: starts no server and reads no credentials. */
export async function openStore(home: string, environment: Environment = process.env): Promise<Store> {
  return openSqliteStore({ path: storePath(home), clock, auditKey: auditKey(auditKeyPath(home, environment)) });
}

/** Opens a second, read-only connection to an open store. */
export function openReader(home: string): Store {
  return openSqliteReader({ path: storePath(home), clock });
}

/** Replaces the store with a backup and signs that this was done. Returns where the previous store was saved. */
export async function restoreFrom(
  home: string,
  from: string,
  environment: Environment = process.env,
): Promise<{ readonly keptAs: string | undefined }> {
  const restored = await restoreStore({ path: storePath(home), from, clock });
  const key = auditKey(auditKeyPath(home, environment));
  try {
    // Migrates the backup to the current version.
    await (await openStore(home, environment))[Symbol.asyncDispose]();
    recordReset({ path: storePath(home), clock, key }, { kind: "restored", reason: from });
  } catch (thrown) {
    throw new CapstanError(
      "store_failed",
      `The store was restored from ${from}, but the restore could not be signed, so an audit will report it as tampering. ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
  return restored;
}
