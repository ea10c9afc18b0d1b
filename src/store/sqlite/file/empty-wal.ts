import { CapstanError } from "../../../core/errors.ts";
import type { Database } from "./database.ts";

/** The write-ahead log still holds what was erased until it is moved into the file and cut. */
export function emptyWal(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (thrown) {
    // It is erased already; a busy or full disk only means that a later checkpoint does this.
    if (!(thrown instanceof CapstanError)) throw thrown;
  }
}
