import { getHeapStatistics } from "node:v8";
import { ApiFailure } from "../http/failure.ts";

/** What may wait for clients that read slowly or not at all. Sizes are in bytes. */
export interface AnswerLimits {
  /** For the clients of one key, and for all clients. Beyond that requests are refused. */
  readonly perKey: number;
  readonly overall: number;
  /** In milliseconds: a connection that takes nothing for so long, although something waits for it, is closed. */
  readonly stallMs: number;
}

const MEBIBYTE = 1_048_576;
/** Answers are in the heap before they wait: in a small one, less may wait. */
const HEAP = getHeapStatistics().heap_size_limit;
const ANSWER_LIMITS: AnswerLimits = {
  perKey: Math.min(64 * MEBIBYTE, HEAP / 16),
  overall: Math.min(256 * MEBIBYTE, HEAP / 4),
  stallMs: 30_000,
};
/** In bytes: what one stream may keep waiting, however many the key has, … */
const LEAST_SHARE = 4_096;
/** … and what is set aside for each, because Node takes about that much before it says that a connection is full. */
const STREAM_BYTES = 65_536;
/** In seconds. */
const RETRY_AFTER = 5;
/** In milliseconds: how long the sum of all counts as known. With thousands of streams it takes a while. */
const SUM_EVERY = 100;

type Bytes = () => number;

interface Counted {
  readonly bytes: Bytes;
  readonly isStream: boolean;
}

/** The bytes of answers that are in memory because clients have not read them yet, by key and overall. */
export class WaitingAnswers {
  readonly limits: AnswerLimits;
  readonly #byKey = new Map<string, Set<Counted>>();
  #sum = { bytes: 0, until: Number.NEGATIVE_INFINITY };
  #closed = 0;

  constructor(limits: Partial<AnswerLimits> = {}) {
    this.limits = { ...ANSWER_LIMITS, ...limits };
  }

  /** Counts an answer, by what waits of it at any time, until the function that is returned is called. */
  add(key: string, bytes: Bytes, { isStream = false } = {}): () => void {
    const own = this.#byKey.get(key) ?? new Set();
    const counted = { bytes, isStream };
    this.#byKey.set(key, own.add(counted));
    return () => {
      own.delete(counted);
      if (own.size === 0 && this.#byKey.get(key) === own) this.#byKey.delete(key);
    };
  }

  /** What waits for the clients of a key now, and for all. */
  of(key: string): number {
    return sumOf(this.#byKey.get(key) ?? [], waitingOf);
  }

  get overall(): number {
    return this.#byKey.values().reduce((sum, own) => sum + sumOf(own, waitingOf), 0);
  }

  /** Connections that were closed because nobody read. */
  get closed(): number {
    return this.#closed;
  }

  closedOne(): void {
    this.#closed += 1;
  }

  /** What one stream of a key may keep waiting, so that all of them together stay within the limit. */
  shareOf(key: string): number {
    return Math.max(LEAST_SHARE, this.limits.perKey / Math.max(1, this.#byKey.get(key)?.size ?? 1));
  }

  /** Throws when so much waits already that nothing more is to be answered. */
  requireRoom(key: string): void {
    const { perKey, overall } = this.limits;
    if (sumOf(this.#byKey.get(key) ?? [], setAside) > perKey)
      throw new ApiFailure(
        "rate_limit_error",
        `More than ${Math.floor(perKey)} bytes are taken by open streams and unread answers of this key. Read or close some of them, then send this request again.`,
        { retryAfter: RETRY_AFTER },
      );
    if (this.#recentSum() > overall)
      throw new ApiFailure(
        "overloaded_error",
        "The server holds as many unread answers as it has room for. Send this request again in a few seconds.",
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
