/** Which tool calls are in the log already. Hooks arrive beside the message stream and must not overtake it. */
export class Announcements {
  readonly #known: Set<string>;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
  }

  announce(callId: string): void {
    this.#known.add(callId);
    for (const resolve of this.#waiting.get(callId) ?? []) resolve();
    this.#waiting.delete(callId);
  }

  /** Rejects when `signal` aborts first. */
  wait(callId: string, signal: AbortSignal): Promise<void> {
    if (this.#known.has(callId)) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => reject(new Error("the call was given up"));
    this.#waiting.set(callId, [...(this.#waiting.get(callId) ?? []), resolve]);
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    return promise;
  }
}
