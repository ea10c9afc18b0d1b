import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";

/** Signals within this time count as one: npm and service managers signal several processes. */
const TOGETHER_MS = 500;

/** The first signal resolves `first`; a later one exits at once, and the next start continues interrupted turns. */
export function serverSignals(): Disposable & { readonly first: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    firstAt ??= performance.now();
    resolve();
    // A closed terminal may send SIGHUP twice, which is not a second request.
    if (performance.now() - firstAt > TOGETHER_MS && signal !== "SIGHUP") process.exit(EXIT_INTERRUPTED);
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
