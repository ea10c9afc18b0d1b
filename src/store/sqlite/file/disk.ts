import { closeSync, fsyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

/** Pages per step of a copy; between the steps the process does its other work. */
const COPY_STEP = 1_000;

/** Waits until a file's content, or a directory's names, are on the disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies a database, as it is at one moment, to a new private file, and the file to the disk. Others may go on writing. */
export async function copyDatabase(source: DatabaseSync, to: string): Promise<void> {
  closeSync(openSync(to, "wx", 0o600));
  // One read transaction for all steps: otherwise every write of another process would make the copy begin again.
  source.exec("BEGIN");
  source.prepare("SELECT count(*) FROM sqlite_schema").get();
  await backup(source, to, { rate: COPY_STEP });
  leaveWal(to);
  syncToDisk(to);
}

/** A copy that is in WAL mode could not be read without leaving files beside it. */
function leaveWal(path: string): void {
  using copy = new DatabaseSync(path);
  copy.exec("PRAGMA journal_mode = DELETE");
}
