import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";

const sync = promisify(fdatasync);

/**
 * Syncs transactions that were committed without waiting for the disk: all of them at once, and outside the event loop.
 * SQLite itself syncs its write-ahead log before it copies from it, so that the order of writes is always safe.
 */
export class WalSync {
  readonly #path: string;
  /** SQLite's locks are on other files, so this one may be opened and closed independently. */
  #file: number | undefined;
  #written = 0;
  #synced = 0;
  #running: Promise<void> | undefined;

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`;
  }

  /** Something was committed that may not be on disk yet. */
  noteWrite(): void {
    this.#file ??= openSync(this.#path, "r");
    this.#written += 1;
  }

  /** Everything that was committed is on disk. */
  markSynced(): void {
    this.#synced = this.#written;
  }

  async sync(): Promise<void> {
    const wanted = this.#written;
    while (this.#synced < wanted) await (this.#running ??= this.#run());
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    if (this.#synced < this.#written) fdatasyncSync(file);
    this.markSynced();
    // A running sync still needs it.
    if (this.#running === undefined) closeSync(file);
    else void this.#running.catch(() => {}).finally(() => closeSync(file));
  }

  async #run(): Promise<void> {
    const upTo = this.#written;
    try {
      if (this.#file !== undefined) await sync(this.#file);
      this.#synced = Math.max(this.#synced, upTo);
    } finally {
      this.#running = undefined;
    }
  }
}
