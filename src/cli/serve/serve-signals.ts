import { INTERRUPTED } from "../terminal/interrupt.ts";

/** In milliseconds: signals that come together are one wish; npm and service managers send one to several processes. */
const TOGETHER = 500;

/** The first signal resolves `first`; a later one leaves at once, and the next start goes on with what was cut. */
export function serverSignals(): Disposable & { readonly first: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    firstAt ??= performance.now();
    resolve();
    // A terminal that goes away may say so twice, which is no second wish.
    if (performance.now() - firstAt > TOGETHER && signal !== "SIGHUP") process.exit(INTERRUPTED);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    first: promise,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
