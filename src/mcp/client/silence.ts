/** Aborts after a period of silence, unless there is an excuse at that moment. */
export class Silence implements Disposable {
  readonly #controller = new AbortController();
  readonly #idleMs: number;
  readonly #isExcused: () => boolean;
  #timer: NodeJS.Timeout;

  constructor(idleMs: number, isExcused: () => boolean) {
    this.#idleMs = idleMs;
    this.#isExcused = isExcused;
    this.#timer = this.#wait();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#wait();
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#isExcused()) this.restart();
      else this.#controller.abort();
    }, this.#idleMs).unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
