import { ApiFailure } from "../http/failure.ts";
import type { BodyLimits } from "./limits.ts";

/** In bytes: what a body costs the server before its first byte. */
const BODY_OVERHEAD = 16_384;
/** In seconds. */
const RETRY_AFTER = 5;

/** Tracks the bytes of request bodies in memory, by key and overall. */
export class BodyBudget {
  readonly #limits: Pick<BodyLimits, "perKey" | "overall">;
  readonly #byKey = new Map<string, number>();
  #overall = 0;

  constructor(limits: Pick<BodyLimits, "perKey" | "overall">) {
    this.#limits = limits;
  }

  /** In bytes: the current total. */
  get held(): number {
    return this.#overall;
  }

  /** Returns what one request holds until it ends. */
  share(key: string): BodyShare {
    return new BodyShare((bytes) => this.#take(key, bytes));
  }

  #take(key: string, bytes: number): void {
    const own = (this.#byKey.get(key) ?? 0) + bytes;
    if (bytes > 0 && own > this.#limits.perKey)
      throw new ApiFailure(
        "rate_limit_error",
        `The requests of this key hold more than ${this.#limits.perKey} bytes of bodies at once. Wait for some of them, then retry this one.`,
        { retryAfter: RETRY_AFTER },
      );
    if (bytes > 0 && this.#overall + bytes > this.#limits.overall)
      throw new ApiFailure(
        "overloaded_error",
        "The server has no room for more request bodies. Retry this request in a few seconds.",
        { status: 503, retryAfter: RETRY_AFTER },
      );
    this.#overall += bytes;
    if (own > 0) this.#byKey.set(key, own);
    else this.#byKey.delete(key);
  }
}

export class BodyShare implements Disposable {
  readonly #take: (bytes: number) => void;
  #taken = 0;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  /** Throws if there is no room for a body. */
  open(): void {
    this.add(BODY_OVERHEAD);
  }

  /** Throws if there is no room for this many more bytes. */
  add(bytes: number): void {
    this.#take(bytes);
    this.#taken += bytes;
  }

  [Symbol.dispose](): void {
    this.#take(-this.#taken);
    this.#taken = 0;
  }
}
