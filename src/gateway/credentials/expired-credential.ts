import type { Clock } from "../../core/ports/clock.ts";

/** What the API said when it refused a credential. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/**
 * Tells a credential that has come to its end from a wrong one, and how long requests may wait for another. One for all
 * sessions on that credential: when nobody has mended it in that time, their next requests are refused at once.
 */
export class ExpiredCredential {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #wasAccepted = false;
  #until: number | undefined;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Takes note of an answer of the API. */
  observe(status: number): void {
    if (status >= 400) return;
    this.#wasAccepted = true;
    this.#until = undefined;
  }

  /** It was good once, as the API says or as was seen. A 403 without such words is about what the account may do. */
  isExpired({ status, message }: Refusal): boolean {
    if (status === 401) return this.#wasAccepted || /\bexpired\b/i.test(message);
    return /\b(token|credentials?|session)\b.*\bexpired\b/i.test(message);
  }

  /** How long a request may wait now, in milliseconds, and the end of that; undefined when nothing waits any more. */
  patience(): { readonly leftMs: number; readonly until: number } | undefined {
    const now = this.#clock.now();
    this.#until ??= now + this.#limitMs;
    return now < this.#until ? { leftMs: this.#until - now, until: this.#until } : undefined;
  }
}
