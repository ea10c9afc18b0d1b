import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { CapstanError } from "../../../core/errors.ts";
import { isBusy, storeFailure } from "./failure.ts";
import { WalSync } from "../wal-sync.ts";

export interface DatabaseOptions {
  readonly path: string;
  /** How long a call waits for another process's write, in milliseconds (default: 5000). */
  readonly busyTimeoutMs?: number;
  /** Open for reading only; the file must exist. */
  readonly readOnly?: boolean;
}

/** Identifies our files: "cpst" in ASCII. */
export const APPLICATION_ID = 0x63707374;

/** A SQL function: whether one of the texts contains the first one, ignoring case. SQLite's own supports only ASCII. */
export const MATCHES = "capstan_matches";

type Parameters = SQLInputValue[] | [Record<string, SQLInputValue>];

/** A prepared statement. `Row` names the columns that its SQL selects; nothing checks that they are the same. */
export interface Statement extends Pick<StatementSync, "run"> {
  all<Row>(...parameters: Parameters): Row[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it names the columns, which only the SQL knows
  get<Row>(...parameters: Parameters): Row | undefined;
  iterate<Row>(...parameters: Parameters): IterableIterator<Row>;
}

/** For a connection that is no `Database`. */
export function prepareIn(connection: DatabaseSync, sql: string): Statement {
  return connection.prepare(sql) as Statement;
}

/** One connection to the store's file. Everything it throws is a CapstanError. */
export class Database implements Disposable {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #sync: WalSync;

  constructor({ path, busyTimeoutMs = 5_000, readOnly = false }: DatabaseOptions) {
    // With an absolute path, SQLite's special names (":memory:", "file:…") are plain files.
    this.path = resolve(path);
    this.#sync = new WalSync(this.path);
    try {
      if (!readOnly) createPrivately(this.path);
      this.#connection = connect(this.path, { busyTimeoutMs, readOnly });
    } catch (thrown) {
      throw storeFailure(thrown, this.path);
    }
  }

  prepare(sql: string): Statement {
    return this.#guard(() => prepareIn(this.#connection, sql));
  }

  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(sql));
  }

  /** For a single statement, which needs no transaction. */
  read<T>(work: () => T): T {
    return this.#guard(work);
  }

  /**
   * Saves everything that `work` writes, or nothing. The write lock is taken first, so that what `work` reads stays
   * true.
   */
  write<T>(work: () => T): T {
    return this.#write(work, false);
  }

  /**
   * The same, but it may reach the disk a moment later: see `synced`. A crash of this process can't lose it. The caller
   * does not wait for the disk, and transactions in quick succession are synced together.
   */
  writeEarly<T>(work: () => T): T {
    this.#guard(() => this.#connection.exec("PRAGMA synchronous = NORMAL"));
    try {
      const result = this.#write(work, true);
      this.#sync.noteWrite();
      return result;
    } finally {
      this.#guard(() => this.#connection.exec("PRAGMA synchronous = FULL"));
    }
  }

  /** Resolves when everything written so far is on disk. */
  async sync(): Promise<void> {
    try {
      await this.#sync.sync();
    } catch (thrown) {
      throw storeFailure(thrown, this.path);
    }
  }

  #write<T>(work: () => T, isEarly: boolean): T {
    return this.#guard(() => {
      this.#connection.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        this.#connection.exec("COMMIT");
        // There is one file: this transaction also syncs all earlier ones.
        if (!isEarly) this.#sync.markSynced();
        return result;
      } catch (thrown) {
        // After some failures, such as a full disk, SQLite has already rolled back.
        if (this.#connection.isTransaction) this.#connection.exec("ROLLBACK");
        throw thrown;
      }
    });
  }

  [Symbol.dispose](): void {
    this.#sync.close();
    if (this.#connection.isOpen) this.#guard(() => this.#connection.close());
  }

  #guard<T>(work: () => T): T {
    if (!this.#connection.isOpen)
      throw new CapstanError("store_failed", `The store ${this.path} is closed. Open it again to use it.`);
    try {
      return work();
    } catch (thrown) {
      throw storeFailure(thrown, this.path);
    }
  }
}

/** SQLite would create the file readable by everyone; its -wal and -shm files get the mode of the main file. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // An existing file is never opened here: closing it would drop the locks that other connections of this process hold.
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    // Another process was faster.
    if (!existsSync(path)) throw thrown;
  }
}

function connect(path: string, { busyTimeoutMs, readOnly }: Required<Omit<DatabaseOptions, "path">>): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true, readOnly });
  try {
    refuseOtherPrograms(connection, path);
    connection.function(MATCHES, { deterministic: true, varargs: true }, matches);
    if (readOnly) return connection;
    enterWal(connection, busyTimeoutMs);
    // Every commit reaches the disk before it is acknowledged; fullfsync is for macOS, whose fsync does not guarantee
    // that.
    connection.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
    // Deleted data is overwritten. (An index key may leave a trace, but payloads are not keys.)
    connection.exec("PRAGMA secure_delete = ON");
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

function matches(search: SQLOutputValue, ...texts: readonly SQLOutputValue[]): number {
  const wanted = String(search).toLowerCase();
  return texts.some((text) => typeof text === "string" && text.toLowerCase().includes(wanted)) ? 1 : 0;
}

/** Runs before anything changes the file: even WAL mode would modify another program's database. */
function refuseOtherPrograms(connection: DatabaseSync, path: string): void {
  const { application, objects } = connection
    .prepare(
      "SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS objects FROM pragma_application_id",
    )
    .get() as { readonly application: number; readonly objects: number };
  if (application !== APPLICATION_ID && objects > 0)
    throw new CapstanError(
      "store_failed",
      `${path} is a database of another program. Choose another path for the store.`,
      { data: { path } },
    );
}

const WAL_RETRY_MS = 10;

/** SQLite ignores the busy timeout here, and fails at once while another process does the same to a new file. */
function enterWal(connection: DatabaseSync, busyTimeoutMs: number): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; ; waited += WAL_RETRY_MS) {
    try {
      const mode = connection.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
      if (mode === "wal") return;
      throw new Error(`its file system does not support SQLite's WAL mode (got "${String(mode)}"); use a local disk`);
    } catch (thrown) {
      if (!isBusy(thrown) || waited >= busyTimeoutMs) throw thrown;
    }
    Atomics.wait(nobody, 0, 0, WAL_RETRY_MS);
  }
}
