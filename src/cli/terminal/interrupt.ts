export const INTERRUPTED = 130;

export interface Stopping extends Disposable {
  /** The user said so, or nobody reads any more. */
  readonly stopped: boolean;
  /** The user said so. */
  readonly signalled: boolean;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * The first signal, or the loss of the reader, calls `interrupt`, once; a second signal leaves at once. `isWanted` is
 * false when nobody said so: the terminal or the reader went away.
 */
export function interruptOnSignal(interrupt: (isWanted: boolean) => Promise<unknown>): Stopping {
  const stop = (isWanted: boolean): void => {
    if (stopping.stopped) return;
    stopping.stopped = true;
    // When not even that can be stored, the turn itself says why.
    interrupt(isWanted).catch(() => {});
  };
  const stopping = {
    stopped: false,
    signalled: false,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdout.off("error", onLoss);
    },
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Agent processes die with this one. A terminal that goes away may say so twice, which is no second wish.
    if (stopping.stopped && signal !== "SIGHUP") process.exit(INTERRUPTED);
    stopping.signalled = true;
    stop(signal !== "SIGHUP");
  };
  const onLoss = (): void => stop(false);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // Nobody reads any more.
  process.stdout.once("error", onLoss);
  return stopping;
}
