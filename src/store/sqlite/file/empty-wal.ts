import { CapstanError } from "../../../core/errors.ts";
import type { Database } from "./database.ts";

/** The write-ahead log still contains erased data until it is moved into the file and truncated. */
export function emptyWal(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (thrown) {
    // It is already erased; if the disk is busy or full, a later checkpoint does this.
    if (!(thrown instanceof CapstanError)) throw thrown;
  }
}
