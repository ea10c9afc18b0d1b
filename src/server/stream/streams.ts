/** How long and how much a server waits for whoever follows a session. */
export interface StreamLimits {
  /** Milliseconds between two signs of life on a stream where nothing happens. */
  readonly heartbeatMs: number;
  /** A client that has read nothing for so many milliseconds, although something waits for it, is cut. */
  readonly stallMs: number;
  /** When so much waits for a client, in bytes, nothing more is taken on for it until it reads. */
  readonly maxWaitingBytes: number;
}

const STREAM_LIMITS: StreamLimits = { heartbeatMs: 15_000, stallMs: 30_000, maxWaitingBytes: 262_144 };

/** The open streams of a server, SSE and WebSocket alike. */
export class Streams {
  readonly limits: StreamLimits;
  readonly #closing = new AbortController();
  #open = 0;
  #cut = 0;

  constructor(limits: Partial<StreamLimits> = {}) {
    this.limits = { ...STREAM_LIMITS, ...limits };
  }

  get open(): number {
    return this.#open;
  }

  /** Those that were cut because nobody read them. */
  get cut(): number {
    return this.#cut;
  }

  /** Aborts when the server shuts down: every stream says so and ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  opened(): void {
    this.#open += 1;
  }

  ended({ wasCut }: { readonly wasCut: boolean }): void {
    this.#open -= 1;
    if (wasCut) this.#cut += 1;
  }

  close(): void {
    this.#closing.abort();
  }
}
