/** Which tool calls are in the log already. Hooks arrive beside the message stream and must not overtake it. */
export class Announcements {
  readonly #known: Set<string>;
  readonly #waiting = new Map<string, () => void>();

  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
  }

  announce(callId: string): void {
    this.#known.add(callId);
    this.#waiting.get(callId)?.();
    this.#waiting.delete(callId);
  }

  /** Rejects when `signal` aborts first. */
  wait(callId: string, signal: AbortSignal): Promise<void> {
    if (this.#known.has(callId)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.set(callId, resolve);
      signal.addEventListener("abort", () => reject(new Error("the call was given up")), { once: true });
    });
  }
}
