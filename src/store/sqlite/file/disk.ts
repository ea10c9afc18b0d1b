import { closeSync, fsyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

/** Pages per step of a copy; the process does other work between steps. */
const COPY_STEP = 1_000;

/** Waits until a file's content, or a directory's names, are on disk. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies one state of a database to a new private file, and syncs it to disk. Others may continue to write. */
export async function copyDatabase(source: DatabaseSync, to: string): Promise<void> {
  closeSync(openSync(to, "wx", 0o600));
  // One read transaction for all steps: otherwise every write of another process would restart the copy.
  source.exec("BEGIN");
  source.prepare("SELECT count(*) FROM sqlite_schema").get();
  await backup(source, to, { rate: COPY_STEP });
  leaveWal(to);
  syncToDisk(to);
}

/** A copy in WAL mode could not be read without leaving files next to it. */
function leaveWal(path: string): void {
  using copy = new DatabaseSync(path);
  copy.exec("PRAGMA journal_mode = DELETE");
}
