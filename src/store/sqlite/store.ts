import type { Clock } from "../../core/clock.ts";
import type { Store } from "../../core/store.ts";
import { backups } from "./backup.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { sessionEraser } from "./erase.ts";
import { eventLog } from "./events.ts";
import { leaseTable } from "./leases.ts";
import { migrate } from "./migrations.ts";
import { sessionTable } from "./sessions.ts";
import { snapshotTable } from "./snapshots.ts";
import { transcriptTable } from "./transcripts.ts";
import { chainVerifier } from "./verify.ts";

export interface SqliteStoreOptions extends DatabaseOptions {
  readonly clock: Clock;
}

/** Opens the store in the file at `path`, making or migrating it when needed. Several processes may share one file. */
export async function openSqliteStore({ clock, ...options }: SqliteStoreOptions): Promise<Store> {
  const database = new Database(options);
  try {
    migrate(database);
    return storeIn(database, clock);
  } catch (thrown) {
    database[Symbol.dispose]();
    throw thrown;
  }
}

/** The store over an open database of the current version; closing the store closes the database. */
export function storeIn(database: Database, clock: Clock): Store {
  return {
    ...sessionTable(database),
    ...sessionEraser(database, clock),
    ...eventLog(database, clock),
    ...chainVerifier(database),
    ...backups(database),
    ...snapshotTable(database),
    transcripts: transcriptTable(database),
    leases: leaseTable(database, clock),
    async [Symbol.asyncDispose]() {
      database[Symbol.dispose]();
    },
  };
}
