/**
 * Lets in what is done with bodies on the main thread: one piece between two looks at all connections, the keys one after
 * another. However many bodies a key sends at once, other requests wait for one piece of them at most.
 */
export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Resolves when a piece of this key may be done, at once and without waiting in between. */
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
      // Behind the other keys, if it has more.
      this.#waiting.delete(key);
      if (own.length > 0) this.#waiting.set(key, own);
      start?.();
      return;
    }
  }
}
