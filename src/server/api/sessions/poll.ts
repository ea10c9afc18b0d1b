import { setTimeout as sleep } from "node:timers/promises";

/** Answers may come through other processes, which do not notify this one. */
const LOOK_EVERY_MS = 250;

/** Polls until the condition is met, the time is up, or the client disconnects; returns the last result. */
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
