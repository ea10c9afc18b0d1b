import type { Clock } from "../../core/ports/clock.ts";
import type { ErrorAnswer } from "../answer.ts";
import { headerValue } from "../headers.ts";
import type { HeaderList } from "../upstreams/upstream.ts";

const RATE_LIMITED = 429;
const OVERLOADED = 529;
/** For a 429 without a time: long enough to apply to other sessions, short enough not to delay them. */
const DEFAULT_WAIT_MS = 1000;

/**
 * When the API tells one session to wait, every session with that credential waits: the gateway answers their requests
 * with the same status and the remaining time, without sending them. A 529 without a time starts no wait, because
 * overload does not depend on the credential.
 */
export class CredentialWait {
  readonly #clock: Clock;
  #status = RATE_LIMITED;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records an answer of the API. */
  observe(status: number, headers: HeaderList): void {
    if (status !== RATE_LIMITED && status !== OVERLOADED) return;
    const now = this.#clock.now();
    const wait = retryAfterMs(headers, now) ?? (status === RATE_LIMITED ? DEFAULT_WAIT_MS : 0);
    if (now + wait <= this.#until) return;
    this.#until = now + wait;
    this.#status = status;
  }

  /** The answer to a request that must wait; undefined if it may be sent. */
  answer(): ErrorAnswer | undefined {
    const left = this.#until - this.#clock.now();
    if (left <= 0) return undefined;
    const seconds = Math.ceil(left / 1000);
    return {
      status: this.#status,
      type: this.#status === RATE_LIMITED ? "rate_limit_error" : "overloaded_error",
      message: `The model API asked this credential to pause; ${seconds} s are left.`,
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
