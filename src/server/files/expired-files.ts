import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/ports/clock.ts";
import type { FileContents, FileStore } from "../../core/ports/registry.ts";

interface SweepDeps {
  readonly files: FileStore;
  readonly contents: FileContents;
  readonly clock: Clock;
  /** In milliseconds. */
  readonly everyMs?: number;
}

/** Removes expired uploads until `signal` aborts. They are invisible once they expire. */
export async function removeExpired(
  { files, contents, clock, everyMs = 60_000 }: SweepDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // If the store or the disk fails, the next round tries again.
    for (const { id, project } of await files.listExpired(clock.now()).catch(() => []))
      await contents
        .remove(id)
        .then(() => files.delete(project, id))
        .catch(() => {});
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
