import type { Clock } from "../../core/ports/clock.ts";
import type { ErrorAnswer } from "../answer.ts";
import { headerValue } from "../headers.ts";
import type { HeaderList } from "../upstreams/upstream.ts";

const RATE_LIMITED = 429;
const OVERLOADED = 529;
/** A 429 that names no time: long enough to spread to the other sessions, short enough not to hold them up. */
const DEFAULT_WAIT_MS = 1000;

/**
 * When the API tells one session to wait, every session on that credential waits: their requests are answered here
 * with the same status and the time that is left, and do not reach the API.
 * A 529 that names no time starts no wait, because overload is not about the credential.
 */
export class CredentialWait {
  readonly #clock: Clock;
  #status = RATE_LIMITED;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of an answer of the API. */
  observe(status: number, headers: HeaderList): void {
    if (status !== RATE_LIMITED && status !== OVERLOADED) return;
    const now = this.#clock.now();
    const wait = retryAfterMs(headers, now) ?? (status === RATE_LIMITED ? DEFAULT_WAIT_MS : 0);
    if (now + wait <= this.#until) return;
    this.#until = now + wait;
    this.#status = status;
  }

  /** The answer to a request that has to wait; undefined when it may be sent. */
  answer(): ErrorAnswer | undefined {
    const left = this.#until - this.#clock.now();
    if (left <= 0) return undefined;
    const seconds = Math.ceil(left / 1000);
    return {
      status: this.#status,
      type: this.#status === RATE_LIMITED ? "rate_limit_error" : "overloaded_error",
      message: `The model API asked for a pause on this credential; ${seconds} s of it are left.`,
      headers: [["retry-after", String(seconds)]],
    };
  }
}

function retryAfterMs(headers: HeaderList, now: number): number | undefined {
  const value = headerValue(headers, "retry-after");
  if (value === undefined || value.trim() === "") return undefined;
  const wait = Number.isNaN(Number(value)) ? Date.parse(value) - now : Number(value) * 1000;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
