/**
 * Schedules work on bodies on the main thread: one chunk per turn of the event loop, alternating between keys. However
 * many bodies a key sends at once, other requests wait for at most one chunk of them.
 */
export class BodyQueue {
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Resolves when one chunk of this key may be processed synchronously. */
  take(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(key);
    if (own === undefined) this.#waiting.set(key, [resolve]);
    else own.push(resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startNext();
      this.#schedule();
    });
  }

  #startNext(): void {
    for (const [key, own] of this.#waiting) {
      const start = own.shift();
      // If the key has more, it queues behind the other keys.
      this.#waiting.delete(key);
      if (own.length > 0) this.#waiting.set(key, own);
      start?.();
      return;
    }
  }
}
