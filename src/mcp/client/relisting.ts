import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two listings of a server. */
const PAUSE_MS = 1_000;

/**
 * Runs `look` when a server says that its list has changed: at once, then at most once per pause. The last change is
 * never missed.
 */
export class Relisting {
  readonly #look: () => Promise<void>;
  #isWanted = false;
  #isLooking = false;

  /** `look` never rejects. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  noteChange(): void {
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
