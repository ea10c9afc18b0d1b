import { getHeapStatistics } from "node:v8";
import { ApiFailure } from "../http/failure.ts";

/** How much may wait for clients that read slowly or not at all. Sizes are in bytes. */
export interface AnswerLimits {
  /** For the clients of one key, and for all clients. Requests above the limit are refused. */
  readonly perKey: number;
  readonly overall: number;
  /** In milliseconds: a connection is closed if the client reads nothing for this long although data waits for it. */
  readonly stallMs: number;
}

const MEBIBYTE = 1_048_576;
/** Waiting answers are in the heap, so a small heap lowers the limits. */
const HEAP = getHeapStatistics().heap_size_limit;
const ANSWER_LIMITS: AnswerLimits = {
  perKey: Math.min(64 * MEBIBYTE, HEAP / 16),
  overall: Math.min(256 * MEBIBYTE, HEAP / 4),
  stallMs: 30_000,
};
/** In bytes: what one stream may always keep waiting, however many the key has. */
const LEAST_SHARE = 4_096;
/** In bytes: reserved for each stream, because Node buffers about this much before it reports backpressure. */
const STREAM_BYTES = 65_536;
/** In seconds. */
const RETRY_AFTER = 5;
/** In milliseconds: how long the total is cached. With thousands of streams it takes a while to add up. */
const SUM_EVERY = 100;

type Bytes = () => number;

interface Counted {
  readonly bytes: Bytes;
  readonly isStream: boolean;
}

/** The bytes of answers in memory that clients have not read yet, by key and overall. */
export class WaitingAnswers {
  readonly limits: AnswerLimits;
  readonly #byKey = new Map<string, Set<Counted>>();
  #sum = { bytes: 0, until: Number.NEGATIVE_INFINITY };
  #closed = 0;

  constructor(limits: Partial<AnswerLimits> = {}) {
    this.limits = { ...ANSWER_LIMITS, ...limits };
  }

  /** Counts the waiting bytes of an answer until the returned function is called. */
  add(key: string, bytes: Bytes, { isStream = false } = {}): () => void {
    const own = this.#byKey.get(key) ?? new Set();
    const counted = { bytes, isStream };
    this.#byKey.set(key, own.add(counted));
    return () => {
      own.delete(counted);
      if (own.size === 0 && this.#byKey.get(key) === own) this.#byKey.delete(key);
    };
  }

  /** The bytes that wait for the clients of a key, and for all clients. */
  of(key: string): number {
    return sumOf(this.#byKey.get(key) ?? [], waitingOf);
  }

  get overall(): number {
    return this.#byKey.values().reduce((sum, own) => sum + sumOf(own, waitingOf), 0);
  }

  /** Connections closed because the client did not read. */
  get closed(): number {
    return this.#closed;
  }

  closedOne(): void {
    this.#closed += 1;
  }

  /** What one stream of a key may keep waiting, so that all its streams together stay within the limit. */
  shareOf(key: string): number {
    return Math.max(LEAST_SHARE, this.limits.perKey / Math.max(1, this.#byKey.get(key)?.size ?? 1));
  }

  /** Throws if too much is waiting to answer another request. */
  requireRoom(key: string): void {
    const { perKey, overall } = this.limits;
    if (sumOf(this.#byKey.get(key) ?? [], setAside) > perKey)
      throw new ApiFailure(
        "rate_limit_error",
        `Open streams and unread responses of this key take up more than ${Math.floor(perKey)} bytes. Read or close some of them, then retry this request.`,
        { retryAfter: RETRY_AFTER },
      );
    if (this.#recentSum() > overall)
      throw new ApiFailure(
        "overloaded_error",
        "The server has no room for more unread responses. Retry this request in a few seconds.",
        { status: 503, retryAfter: RETRY_AFTER },
      );
  }

  #recentSum(): number {
    const now = performance.now();
    if (now < this.#sum.until) return this.#sum.bytes;
    const bytes = this.#byKey.values().reduce((sum, own) => sum + sumOf(own, setAside), 0);
    this.#sum = { bytes, until: now + SUM_EVERY };
    return bytes;
  }
}

function sumOf(all: Iterable<Counted>, part: (one: Counted) => number): number {
  let sum = 0;
  for (const one of all) sum += part(one);
  return sum;
}

function waitingOf({ bytes }: Counted): number {
  return bytes();
}

function setAside({ bytes, isStream }: Counted): number {
  return isStream ? Math.max(STREAM_BYTES, bytes()) : bytes();
}
