import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../../core/ports/clock.ts";
import { CapstanError, messageOf } from "../../../core/errors.ts";
import { APPLICATION_ID, Database } from "./database.ts";
import { copyDatabase, syncToDisk } from "./disk.ts";
import { storeFailure } from "./failure.ts";
import { refuseLiveLease } from "../sessions/leases.ts";
import { MIGRATIONS } from "./migrations.ts";

export interface RestoreOptions {
  /** The store's file. */
  readonly path: string;
  /** The backup. */
  readonly from: string;
  readonly clock: Clock;
}

export interface Restored {
  /** Where the replaced store is kept; undefined if there was none. */
  readonly keptAs: string | undefined;
}

/**
 * Replaces the store with a copy of a backup. Nobody else may have the store open: they would continue to write to the
 * replaced file. A store that is damaged, or was written by a newer Capstan, can be replaced too.
 */
export async function restoreStore({ path, from, clock }: RestoreOptions): Promise<Restored> {
  const store = resolve(path);
  const backup = resolve(from);
  const copy = `${store}.restoring`;
  try {
    mkdirSync(dirname(store), { recursive: true, mode: 0o700 });
    rmSync(copy, { force: true });
    await copyOf(backup, copy);
    using _lock = existsSync(store) ? takeOver(store, clock) : undefined;
    const keptAs = existsSync(store) ? keep(store) : undefined;
    renameSync(copy, store);
    syncToDisk(dirname(store));
    return { keptAs };
  } catch (thrown) {
    throw storeFailure(thrown, store);
  } finally {
    for (const file of [copy, `${copy}-journal`]) rmSync(file, { force: true });
  }
}

/** Checks the copy that will be used, not its source. */
async function copyOf(backup: string, copy: string): Promise<void> {
  // SQLite would create a database at a path that does not exist.
  const found = statSync(backup, { throwIfNoEntry: false });
  if (found === undefined) throw unusable(backup, { code: "not_found", reason: "the file does not exist" });
  if (found.isDirectory()) throw unusable(backup, { code: "invalid_input", reason: "it is a directory" });
  try {
    using source = openUntouched(backup);
    await copyDatabase(source, copy);
    using database = new DatabaseSync(copy, { readOnly: true });
    refuseUnusable(backup, database);
  } catch (thrown) {
    if (thrown instanceof CapstanError) throw thrown;
    const failure = storeFailure(thrown, backup);
    if (failure.code !== "store_corrupt" && failure.code !== "store_failed") throw failure;
    throw unusable(backup, { code: failure.code, reason: messageOf(thrown), cause: thrown });
  }
}

/** Without a write-ahead log the file is complete, and can be read without locks and additional files. */
function openUntouched(backup: string): DatabaseSync {
  const address = pathToFileURL(backup);
  if (!existsSync(`${backup}-wal`)) address.searchParams.set("immutable", "1");
  return new DatabaseSync(address, { readOnly: true });
}

function refuseUnusable(backup: string, database: DatabaseSync): void {
  const valueOf = (pragma: string) => Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
  if (valueOf("application_id") !== APPLICATION_ID)
    throw unusable(backup, { code: "store_failed", reason: "it is not a Capstan store" });
  const version = Number(valueOf("user_version"));
  if (version > MIGRATIONS.length)
    throw new CapstanError(
      "store_newer",
      `${backup} cannot be restored: it was written by a newer Capstan (schema ${version}, this one knows ${MIGRATIONS.length}). ` +
        "Update Capstan first.",
      { data: { path: backup, version, newest: MIGRATIONS.length } },
    );
  const integrity = valueOf("integrity_check(1)");
  if (integrity !== "ok")
    throw unusable(backup, { code: "store_corrupt", reason: `it is damaged (${String(integrity)})` });
}

function unusable(
  path: string,
  { code, reason, cause }: { code: CapstanError["code"]; reason: string; cause?: unknown },
): CapstanError {
  return new CapstanError(code, `${path} cannot be restored: ${reason}. Nothing was changed. Choose another backup.`, {
    data: { path },
    cause,
  });
}

/**
 * Locks the store against everyone, with its write-ahead log merged into the file. A damaged store is checked and
 * locked as far as possible.
 */
function takeOver(store: string, clock: Clock): Database | undefined {
  const database = unlessDamaged(() => new Database({ path: store }));
  if (database === undefined) return undefined;
  try {
    unlessDamaged(() => refuseLiveLease(database, clock));
    unlessDamaged(() => lockAlone(database));
    return database;
  } catch (thrown) {
    database[Symbol.dispose]();
    throw thrown;
  }
}

function unlessDamaged<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof CapstanError && thrown.code === "store_corrupt") return undefined;
    throw thrown;
  }
}

/** SQLite leaves WAL mode only for its only connection. */
function lockAlone(database: Database): void {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (thrown) {
    if (!(thrown instanceof CapstanError) || thrown.code !== "store_locked") throw thrown;
    throw new CapstanError(
      "store_locked",
      `The store ${database.path} is open in another process, which would not see the restored data. Stop every Capstan that uses it, then try again.`,
      { data: { path: database.path }, retryable: true, cause: thrown },
    );
  }
}

/** A second name for the old file, so that its path always has a store. */
function keep(store: string): string {
  for (let number = 1; ; number += 1) {
    const kept = `${store}.before-restore-${number}`;
    try {
      linkSync(store, kept);
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") continue;
      throw thrown;
    }
    // They exist only if the store could not be opened. SQLite would mistake them for the new file's.
    for (const suffix of ["-wal", "-shm"]) if (existsSync(store + suffix)) renameSync(store + suffix, kept + suffix);
    return kept;
  }
}
