export const EXIT_INTERRUPTED = 130;

export interface Stopping extends Disposable {
  /** The user interrupted, or standard output was closed. */
  readonly stopped: boolean;
  /** The user interrupted. */
  readonly signaled: boolean;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls `interrupt` once, on the first signal or when standard output is closed. A second signal exits at once.
 * `isWanted` is false if the terminal or the reader went away.
 */
export function interruptOnSignal(interrupt: (isWanted: boolean) => Promise<unknown>): Stopping {
  const stop = (isWanted: boolean): void => {
    if (stopping.stopped) return;
    stopping.stopped = true;
    // If the interrupt cannot be saved, the turn itself reports why.
    interrupt(isWanted).catch(() => {});
  };
  const stopping = {
    stopped: false,
    signaled: false,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdout.off("error", onLoss);
    },
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Agent processes die with this one. A closed terminal may send SIGHUP twice, which is not a second request.
    if (stopping.stopped && signal !== "SIGHUP") process.exit(EXIT_INTERRUPTED);
    stopping.signaled = true;
    stop(signal !== "SIGHUP");
  };
  const onLoss = (): void => stop(false);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.stdout.once("error", onLoss);
  return stopping;
}
