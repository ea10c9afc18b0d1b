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

/** Beside the store: the whole outputs of tools. */
export function outputsPath(home: string): string {
  return join(home, "outputs");
}

/** The store alone, for what needs no agent: it starts no server and knows no credential. */
export async function openStore(home: string, environment: Environment = process.env): Promise<Store> {
  return openSqliteStore({ path: storePath(home), clock, auditKey: auditKey(auditKeyPath(home, environment)) });
}

/** The same for reading alone, beside a store that is open. */
export function openReader(home: string): Store {
  return openSqliteReader({ path: storePath(home), clock });
}

/** Puts a backup in the place of the store, and signs that this was done. Tells how the store that was there is kept. */
export async function restoreFrom(
  home: string,
  from: string,
  environment: Environment = process.env,
): Promise<{ readonly keptAs: string | undefined }> {
  const restored = await restoreStore({ path: storePath(home), from, clock });
  const key = auditKey(auditKeyPath(home, environment));
  try {
    // Makes a store of the current version of the backup.
    await (await openStore(home, environment))[Symbol.asyncDispose]();
    recordReset({ path: storePath(home), clock, key }, { kind: "restored", reason: from });
  } catch (thrown) {
    throw new CapstanError(
      "store_failed",
      `The store is restored from ${from}, but that could not be signed, so an audit will call it tampering. ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
  return restored;
}
