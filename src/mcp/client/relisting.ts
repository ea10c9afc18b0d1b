import { setTimeout as sleep } from "node:timers/promises";

/** Between two looks at what a server has, in milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Does something when a server says that its list has changed: at once, then after a pause, however often the server says so
 * meanwhile. The last word of the server is always heeded.
 */
export class Relisting {
  readonly #look: () => Promise<void>;
  #isWanted = false;
  #isLooking = false;

  /** `look` never rejects. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  changed(): void {
    this.#isWanted = true;
    if (!this.#isLooking) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#look();
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
    this.#isLooking = false;
  }
}
