import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";

export interface Signals extends Disposable {
  /** A signal ended the chat. */
  readonly isSignaled: boolean;
  /** The terminal or the reader is gone. */
  readonly isGone: boolean;
}

/** SIGINT interrupts the turn, like Esc; SIGTERM or a closed terminal ends the chat. A second SIGTERM exits at once. */
export function leaveOnSignal({ interrupt, leave }: { interrupt: () => void; leave: () => void }): Signals {
  const signals = { isSignaled: false, isGone: false };
  const onTerm = (): void => {
    if (signals.isSignaled) process.exit(EXIT_INTERRUPTED);
    signals.isSignaled = true;
    leave();
  };
  const onGone = (): void => {
    signals.isSignaled = true;
    signals.isGone = true;
    leave();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", onTerm);
  process.on("SIGHUP", onGone);
  process.stdout.once("error", onGone);
  if (process.stdin.isTTY) process.stdin.once("end", onGone);
  return {
    get isSignaled() {
      return signals.isSignaled;
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
