import { setTimeout as sleep } from "node:timers/promises";

/** Answers may come through other processes, of which nobody tells this one. */
const LOOK_EVERY_MS = 250;

/** Looks again and again until it sees what it waits for, the time is over, or the client has gone; what it saw last. */
export async function waitFor<Seen>(
  look: () => Promise<Seen>,
  isThere: (seen: Seen) => boolean,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Seen> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const seen = await look();
    const left = until - performance.now();
    if (isThere(seen) || left <= 0 || signal.aborted) return seen;
    await sleep(Math.min(LOOK_EVERY_MS, left), undefined, { signal }).catch(() => {});
  }
}
