import { CapstanError, messageOf } from "../../../core/errors.ts";

/** SQLite's primary result codes (https://www.sqlite.org/rescode.html): the low byte of an extended code. */
const SQLITE = { PERM: 3, BUSY: 5, READONLY: 8, CORRUPT: 11, FULL: 13, CANTOPEN: 14, PROTOCOL: 15, NOTADB: 26 };
/** The WAL index could not grow: the only case where SQLite reports a full disk as an I/O error. */
const IOERR_SHMSIZE = 4874;

/** Converts an error of the driver or the file system to a `store_*` error; our own errors are passed on unchanged. */
export function storeFailure(thrown: unknown, path: string): CapstanError {
  if (thrown instanceof CapstanError) return thrown;
  const details = { cause: thrown, data: { path } };
  const reason = messageOf(thrown);
  if (isBusy(thrown))
    return new CapstanError(
      "store_locked",
      `The store ${path} is locked by another process. Try again; if it stays locked, stop the process that holds the file open.`,
      { ...details, retryable: true },
    );
  if (isFull(thrown))
    return new CapstanError(
      "store_full",
      `The disk of the store ${path} is full; this change was not saved. Free some space and try again.`,
      { ...details, retryable: true },
    );
  if (isCorrupt(thrown))
    return new CapstanError(
      "store_corrupt",
      `The store ${path} is damaged (${reason}). Stop Capstan, move the file and its -wal and -shm away, and restore a backup.`,
      details,
    );
  if (isUnreachable(thrown))
    return new CapstanError(
      "store_failed",
      `The store ${path} cannot be opened for writing (${reason}). Give this user read and write permission for the file and its directory, or set CAPSTAN_HOME to a writable directory.`,
      details,
    );
  return new CapstanError(
    "store_failed",
    `The store ${path} failed: ${reason}. If this continues, check the disk and the file.`,
    details,
  );
}

export function isBusy(thrown: unknown): boolean {
  return [SQLITE.BUSY, SQLITE.PROTOCOL].includes(primaryCode(thrown));
}

function isFull(thrown: unknown): boolean {
  return (
    primaryCode(thrown) === SQLITE.FULL ||
    sqliteCode(thrown) === IOERR_SHMSIZE ||
    ["ENOSPC", "EDQUOT"].includes(systemCode(thrown))
  );
}

function isCorrupt(thrown: unknown): boolean {
  // Only JSON.parse of a saved text throws a SyntaxError here.
  return [SQLITE.CORRUPT, SQLITE.NOTADB].includes(primaryCode(thrown)) || thrown instanceof SyntaxError;
}

function isUnreachable(thrown: unknown): boolean {
  const isSystemError = thrown instanceof Error && "syscall" in thrown;
  return [SQLITE.PERM, SQLITE.READONLY, SQLITE.CANTOPEN].includes(primaryCode(thrown)) || isSystemError;
}

function primaryCode(thrown: unknown): number {
  return sqliteCode(thrown) & 0xff;
}

function sqliteCode(thrown: unknown): number {
  return thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number" ? thrown.errcode : 0;
}

function systemCode(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
