import type { Clock } from "../../core/ports/clock.ts";

/** The API's response when it refused a credential. */
export interface CredentialRefusal {
  readonly status: number;
  readonly message: string;
}

/**
 * Distinguishes an expired credential from a wrong one, and decides how long requests may wait for a new one. Shared by
 * all sessions with that credential: if nobody renews it in time, their next requests are refused at once.
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

  /** Records an answer of the API. */
  observe(status: number): void {
    if (status >= 400) return;
    this.#wasAccepted = true;
    this.#until = undefined;
  }

  /**
   * It was valid before, according to the API or an earlier answer. A 403 that does not say so is about the account's
   * permissions.
   */
  isExpired({ status, message }: CredentialRefusal): boolean {
    if (status === 401) return this.#wasAccepted || /\bexpired\b/i.test(message);
    return /\b(token|credentials?|session)\b.*\bexpired\b/i.test(message);
  }

  /** How long a request may wait now, in milliseconds, and until when; undefined if requests no longer wait. */
  patience(): { readonly leftMs: number; readonly until: number } | undefined {
    const now = this.#clock.now();
    this.#until ??= now + this.#limitMs;
    return now < this.#until ? { leftMs: this.#until - now, until: this.#until } : undefined;
  }
}
