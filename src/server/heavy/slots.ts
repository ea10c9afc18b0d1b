import { onAbort } from "../../core/text/on-abort.ts";
import { ApiFailure } from "../http/failure.ts";

/** Who requested expensive work, and whether they are still connected. */
export interface HeavyCaller {
  /** The id of the key or login. */
  readonly key: string;
  readonly signal: AbortSignal;
}

interface SlotLimits {
  /** How many run at once, at most one for each key. */
  readonly running: number;
  /** How many may wait, for one key and overall. */
  readonly waitingPerKey: number;
  readonly waiting: number;
}

const LIMITS: SlotLimits = { running: 2, waitingPerKey: 8, waiting: 64 };
/** In seconds. */
const RETRY_AFTER = 5;

/** Admits expensive work in order of arrival: one at a time for each key, a few overall. */
export class HeavySlots {
  readonly #limits: SlotLimits;
  readonly #running = new Set<string>();
  readonly #waiting: { readonly key: string; readonly start: () => void }[] = [];

  constructor(limits: Partial<SlotLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Rejects if too many are waiting, or if the caller disconnects before it starts. */
  async run<Result>({ key, signal }: HeavyCaller, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(key, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#running.delete(key);
      this.#startNext();
    }
  }

  async #enter(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isFree(key)) {
      this.#running.add(key);
      return;
    }
    const own = this.#waiting.filter((one) => one.key === key).length;
    if (own >= this.#limits.waitingPerKey || this.#waiting.length >= this.#limits.waiting) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { key, start: resolve };
    this.#waiting.push(waiting);
    const takeBack = onAbort(signal, () => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason as Error);
    });
    await promise.finally(takeBack);
  }

  #isFree(key: string): boolean {
    return this.#running.size < this.#limits.running && !this.#running.has(key);
  }

  #startNext(): void {
    for (let at = this.#waiting.findIndex(({ key }) => this.#isFree(key)); at >= 0;) {
      const [next] = this.#waiting.splice(at, 1);
      if (next !== undefined) {
        this.#running.add(next.key);
        next.start();
      }
      at = this.#waiting.findIndex(({ key }) => this.#isFree(key));
    }
  }
}

function tooMany(): ApiFailure {
  return new ApiFailure(
    "rate_limit_error",
    "Too many exports, audits, searches and comparisons are waiting. Wait for some of them, then retry this request.",
    { retryAfter: RETRY_AFTER },
  );
}
