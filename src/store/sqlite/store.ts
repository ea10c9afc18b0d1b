import { dirname, join } from "node:path";
import type { AuditKey } from "../../core/session/audit.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Store } from "../../core/ports/store.ts";
import { toolOutputsIn } from "./outputs/tool-outputs.ts";
import { approvalTable } from "./approvals.ts";
import { auditLog } from "./audit/audit-log.ts";
import { claimTable } from "./sessions/claims.ts";
import { backups } from "./file/backup.ts";
import { Database, type DatabaseOptions } from "./file/database.ts";
import { sessionEraser } from "./sessions/erase.ts";
import { eventLog } from "./sessions/events.ts";
import { leaseTable } from "./sessions/leases.ts";
import { ledgerTable } from "./ledger/ledger.ts";
import { migrate } from "./file/migrations.ts";
import { registryTables } from "./registry/registry.ts";
import { sessionTable } from "./sessions/sessions.ts";
import { snapshotTable } from "./sessions/snapshots.ts";
import { suiteRunTable } from "./suite-runs.ts";
import { transcriptTable } from "./sessions/transcripts.ts";
import { chainVerifier } from "./audit/verify.ts";

export interface SqliteStoreOptions extends DatabaseOptions {
  readonly clock: Clock;
  /** Signs the heads of the logs. If absent, nothing is signed. */
  readonly auditKey?: AuditKey | undefined;
}

/** Opens the store in the file at `path`, creating or migrating it if needed. Several processes may share one file. */
export async function openSqliteStore({ clock, auditKey, ...options }: SqliteStoreOptions): Promise<Store> {
  const database = new Database(options);
  try {
    migrate(database);
    return storeIn(database, { clock, auditKey });
  } catch (thrown) {
    database[Symbol.dispose]();
    throw thrown;
  }
}

/** The store in a file that another connection has open: reading changes nothing and signs nothing. */
export function openSqliteReader({ clock, path }: Pick<SqliteStoreOptions, "clock" | "path">): Store {
  const database = new Database({ path, readOnly: true });
  try {
    return storeIn(database, { clock });
  } catch (thrown) {
    database[Symbol.dispose]();
    throw thrown;
  }
}

/** The store over an open database of the current version; closing the store closes the database. */
export function storeIn(
  database: Database,
  { clock, auditKey }: Pick<SqliteStoreOptions, "clock" | "auditKey">,
): Store {
  const audit = auditLog(database, { clock, key: auditKey });
  const toolOutputs = toolOutputsIn(join(dirname(database.path), "outputs"));
  const { deleteSession } = sessionEraser(database, { clock, audit });
  return {
    ...sessionTable(database, audit),
    async deleteSession(sessionId, fence) {
      await deleteSession(sessionId, fence);
      await toolOutputs.removeAll(sessionId);
    },
    ...eventLog(database, { clock, audit }),
    ...chainVerifier(database),
    ...backups(database),
    ...snapshotTable(database),
    transcripts: transcriptTable(database),
    leases: leaseTable(database, clock),
    claims: claimTable(database),
    ledger: ledgerTable(database, clock),
    approvals: approvalTable(database, clock),
    registry: registryTables(database, clock),
    suiteRuns: suiteRunTable(database),
    toolOutputs,
    async [Symbol.asyncDispose]() {
      audit.close();
      database[Symbol.dispose]();
    },
  };
}
