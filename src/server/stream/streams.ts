/** How long and for how much data a server waits for followers of a session. */
export interface StreamLimits {
  /** Milliseconds between heartbeats on an idle stream. */
  readonly heartbeatMs: number;
  /** A client is disconnected if it reads nothing for this many milliseconds although data waits for it. */
  readonly stallMs: number;
  /** When this many bytes wait for a client, nothing more is taken until it reads. */
  readonly maxWaitingBytes: number;
}

const STREAM_LIMITS: StreamLimits = { heartbeatMs: 15_000, stallMs: 30_000, maxWaitingBytes: 262_144 };

/** The open streams of a server, SSE and WebSocket. */
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

  /** Streams closed because the client did not read them. */
  get cut(): number {
    return this.#cut;
  }

  /** Aborts when the server shuts down: every stream reports that and ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  noteOpened(): void {
    this.#open += 1;
  }

  noteEnded({ wasCut }: { readonly wasCut: boolean }): void {
    this.#open -= 1;
    if (wasCut) this.#cut += 1;
  }

  close(): void {
    this.#closing.abort();
  }
}
