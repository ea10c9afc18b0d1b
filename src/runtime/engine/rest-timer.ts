/** Says when a process has had nothing to do for long enough. */
export class RestTimer {
  readonly #afterMs: number;
  readonly #onDue: () => void;
  #timeout: NodeJS.Timeout | undefined;

  constructor(afterMs: number, onDue: () => void) {
    this.#afterMs = afterMs;
    this.#onDue = onDue;
  }

  /** The process has nothing to do. Said again, it has had nothing to do since the first time. */
  start(): void {
    this.#timeout ??= setTimeout(() => {
      this.#timeout = undefined;
      this.#onDue();
    }, this.#afterMs).unref();
  }

  /** The process is needed, or gone. */
  stop(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  }
}
