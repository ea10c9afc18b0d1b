/**
 * Calls `act` when the signal aborts, or at once if it already has: a listener added later is never called. Returns a
 * function that cancels this.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => {};
  }
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}
