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

/** Removes uploaded files whose time is over, until `signal` aborts. They cannot be seen before that already. */
export async function removeExpired(
  { files, contents, clock, everyMs = 60_000 }: SweepDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // A store or a disk that fails for a moment is tried again next time.
    for (const { id, project } of await files.expired(clock.now()).catch(() => []))
      await contents
        .remove(id)
        .then(() => files.delete(project, id))
        .catch(() => {});
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
