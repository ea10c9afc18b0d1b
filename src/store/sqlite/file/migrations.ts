import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { APPLICATION_ID, Database } from "./database.ts";
import { syncToDisk } from "./disk.ts";
import { addLedgerTables } from "../ledger/ledger-migration.ts";
import { ADD_REGISTRY } from "../registry/registry-migration.ts";
import { fillSummaries } from "../sessions/summary.ts";

/** SQL, or a function that runs in the migration's transaction. */
type Migration = string | ((database: Database) => void);

/**
 * The schema, one step per version. A released step is never edited: a change is a new step at the end. Step 1 creates
 * version 1, and so on; the file keeps its version in `user_version`.
 */
export const MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL,
    agent TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT,
    forked_from TEXT,
    -- Where the log ends: without it a log that was cut at the end would still be a valid chain.
    head_seq INTEGER NOT NULL,
    head_hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_age ON sessions (created_at, id);

  CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id),
    seq INTEGER NOT NULL CHECK (seq > 0),
    event TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
  ) STRICT;

  CREATE TABLE snapshots (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id),
    seq INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE transcript_entries (
    position INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    path TEXT NOT NULL,
    uuid TEXT,
    entry TEXT NOT NULL
  ) STRICT;
  CREATE INDEX transcript_entries_in_order ON transcript_entries (session_id, path, position);
  -- Entries without a uuid are all different: NULLs never collide in a unique index.
  CREATE UNIQUE INDEX transcript_entries_once ON transcript_entries (session_id, path, uuid);

  CREATE TABLE leases (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id),
    fence INTEGER NOT NULL CHECK (fence > 0),
    host_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    hostname TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  `,
  (database) => {
    database.exec(`
      ALTER TABLE sessions ADD COLUMN project TEXT NOT NULL DEFAULT 'default';
      ALTER TABLE sessions ADD COLUMN status TEXT NOT NULL DEFAULT 'idle';
      ALTER TABLE sessions ADD COLUMN last_activity_at INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE sessions ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE sessions ADD COLUMN usd REAL NOT NULL DEFAULT 0;
      ALTER TABLE sessions ADD COLUMN first_message TEXT NOT NULL DEFAULT '';
      ALTER TABLE sessions ADD COLUMN deleted_at INTEGER;
    `);
    fillSummaries(database);
    // Lists are now ordered by activity. Every append moves a session in this index, so there is only one.
    database.exec(`
      DROP INDEX sessions_by_age;
      CREATE INDEX sessions_by_activity ON sessions (last_activity_at DESC, id, project, status)
        WHERE deleted_at IS NULL;
    `);
  },
  addLedgerTables,
  `
  CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    status TEXT NOT NULL,
    request TEXT NOT NULL,
    -- The input as it is, for the approver alone; NULL when it holds no secret, and once the approval is settled.
    input TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    answer TEXT
  ) STRICT;
  CREATE INDEX approvals_by_session ON approvals (session_id, status);
  CREATE INDEX approvals_open ON approvals (status, created_at) WHERE status <> 'settled';

  CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY,
    rule TEXT NOT NULL,
    scope TEXT NOT NULL,
    session_id TEXT,
    project TEXT,
    approval_id TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    uses INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- The register of signed heads; core/audit.ts says what the fields mean. No reference to sessions: it must outlive them.
  CREATE TABLE audit_seals (
    seq INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT NOT NULL,
    head_seq INTEGER NOT NULL,
    head_hash TEXT NOT NULL,
    note TEXT NOT NULL,
    previous TEXT NOT NULL,
    key_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT NOT NULL
  ) STRICT;

  -- Public keys that signed; believed only when a trusted key vouches for them.
  CREATE TABLE audit_keys (id TEXT NOT NULL PRIMARY KEY, public_key TEXT NOT NULL) STRICT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN environment TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE sessions ADD COLUMN source TEXT NOT NULL DEFAULT '';
  UPDATE sessions SET source = cwd;
  -- Directories that turns of sessions work in place in, so that no two do at the same time.
  CREATE TABLE claims (session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id), path TEXT NOT NULL) STRICT;
  -- A state knows of files now; it is read from the log again.
  DELETE FROM snapshots;
  `,
  ADD_REGISTRY,
  `
  CREATE TABLE suite_runs (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    -- As lists show it, so that none of them reads whole runs.
    summary TEXT NOT NULL,
    run TEXT NOT NULL
  ) STRICT;
  CREATE INDEX suite_runs_by_start ON suite_runs (project, started_at, id);

  -- The suites that a run is among the newest runs of; with the last of them the run goes.
  CREATE TABLE suite_run_suites (
    run_id TEXT NOT NULL REFERENCES suite_runs (id) ON DELETE CASCADE,
    suite TEXT NOT NULL,
    project TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (run_id, suite)
  ) STRICT;
  CREATE INDEX suite_run_suites_by_start ON suite_run_suites (project, suite, started_at, run_id);
  `,
  `
  ALTER TABLE sessions ADD COLUMN last_spoken_at INTEGER NOT NULL DEFAULT 0;
  UPDATE sessions SET last_spoken_at = last_activity_at;
  `,
];

/** Migrates the file to the newest version in one transaction, after a backup. */
export function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  const newest = migrations.length;
  if (versionOf(database, newest) === newest) return;
  database.write(() => {
    // Checked again under the lock: another process may have migrated meanwhile.
    const version = versionOf(database, newest);
    if (version === newest) return;
    if (version > 0) backUp(database.path, version);
    for (const step of migrations.slice(version)) {
      if (typeof step === "string") database.exec(step);
      else step(database);
    }
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}`);
  });
}

interface VersionRow {
  readonly version: number;
}

/** 0 for a fresh file. */
function versionOf(database: Database, newest: number): number {
  const select = database.prepare("SELECT user_version AS version FROM pragma_user_version");
  const { version } = database.read(() => select.get<VersionRow>()) as VersionRow;
  if (version > newest)
    throw new CapstanError(
      "store_newer",
      `The store ${database.path} was written by a newer Capstan (schema ${version}, this one knows ${newest}). ` +
        `Update Capstan, or go back to a backup that an update left next to it (such as ${backupPath(database.path, newest)}).`,
      { data: { path: database.path, version, newest } },
    );
  return version;
}

function backupPath(path: string, version: number): string {
  return `${path}.v${version}.bak`;
}

/**
 * Called with the write lock held, so a second connection sees exactly what will be migrated. The backup gets its name
 * when it is complete and on disk: a crash never leaves a partial backup that looks complete.
 */
function backUp(path: string, version: number): void {
  const unfinished = `${backupPath(path, version)}.tmp`;
  rmSync(unfinished, { force: true });
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
    vacuumInto(path, unfinished);
    syncToDisk(unfinished);
    renameSync(unfinished, backupPath(path, version));
    syncToDisk(dirname(path));
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function vacuumInto(path: string, target: string): void {
  using source = new Database({ path });
  const copy = source.prepare("VACUUM INTO ?");
  source.read(() => copy.run(target));
}
