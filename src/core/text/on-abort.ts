/**
 * Calls `act` when the signal aborts, and at once if it already has: a listener that is added later is never called.
 * Returns a function that takes the call back.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => {};
  }
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}
