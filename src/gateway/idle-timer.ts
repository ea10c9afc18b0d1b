/** Fires once if it is not restarted or stopped in time. */
export class IdleTimer {
  readonly #ms: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;
  #expired = false;

  constructor(ms: number, onIdle: () => void) {
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  get expired(): boolean {
    return this.#expired;
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#onIdle();
    }, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
