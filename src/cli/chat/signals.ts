import { INTERRUPTED } from "../terminal/interrupt.ts";

export interface Signals extends Disposable {
  /** A signal ended the chat. */
  readonly isSignalled: boolean;
  /** Nobody reads any more. */
  readonly isGone: boolean;
}

/**
 * SIGINT ends the turn, as Esc does; SIGTERM, or a terminal that goes away, ends the chat. A second SIGTERM leaves at
 * once.
 */
export function leaveOnSignal({ interrupt, leave }: { interrupt: () => void; leave: () => void }): Signals {
  const signals = { isSignalled: false, isGone: false };
  const onTerm = (): void => {
    if (signals.isSignalled) process.exit(INTERRUPTED);
    signals.isSignalled = true;
    leave();
  };
  const onGone = (): void => {
    signals.isSignalled = true;
    signals.isGone = true;
    leave();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", onTerm);
  process.on("SIGHUP", onGone);
  process.stdout.once("error", onGone);
  if (process.stdin.isTTY) process.stdin.once("end", onGone);
  return {
    get isSignalled() {
      return signals.isSignalled;
    },
    get isGone() {
      return signals.isGone;
    },
    [Symbol.dispose]() {
      process.off("SIGINT", interrupt).off("SIGTERM", onTerm).off("SIGHUP", onGone);
      process.stdout.off("error", onGone);
      process.stdin.off("end", onGone);
    },
  };
}
