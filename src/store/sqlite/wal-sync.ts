import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";

const sync = promisify(fdatasync);

/**
 * Brings transactions to the disk that were committed without waiting for it: all that are there by then, at once, and
 * beside the event loop. SQLite itself syncs its write-ahead log before it copies from it, so that the order of writes
 * is safe at any moment.
 */
export class WalSync {
  readonly #path: string;
  /** SQLite keeps its locks on other files, so that this one may be opened and closed beside it. */
  #file: number | undefined;
  #written = 0;
  #synced = 0;
  #running: Promise<void> | undefined;

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`;
  }

  /** Something was committed, and the disk may not have it yet. */
  written(): void {
    this.#file ??= openSync(this.#path, "r");
    this.#written += 1;
  }

  /** The disk has everything that was committed. */
  done(): void {
    this.#synced = this.#written;
  }

  async synced(): Promise<void> {
    const wanted = this.#written;
    while (this.#synced < wanted) await (this.#running ??= this.#run());
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    if (this.#synced < this.#written) fdatasyncSync(file);
    this.done();
    // One that is under way still needs it.
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
