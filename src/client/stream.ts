import type { Preview } from "../core/events.ts";
import type { ClippedEvent } from "../protocol/api/session-requests.ts";
import { CapstanApiError, refusalOf } from "./error.ts";
import type { Http } from "./http.ts";
import { framesOf } from "../protocol/sse.ts";

export interface StreamOptions {
  /** Only events after this place in the log. Default: all. */
  readonly after?: number;
  /** In characters: texts in events that are longer are cut. Default: events are whole. */
  readonly clip?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Told before each new attempt: how many have failed in a row, and why. */
  readonly onRetry?: (failures: number, reason: CapstanApiError) => void;
  /** Told when the server has accepted, at first and after each cut: from now on nothing is missed. */
  readonly onConnect?: () => void;
}

/** In milliseconds. A server gives a sign of life every fifteen seconds; without one the connection is as good as cut. */
const QUIET_MS = 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Failures in a row, some two minutes, after which nobody is there any more. */
const MAX_FAILURES = 15;

/**
 * Every event of a session from a place in its log on, then what happens, and previews of what is being said. A stream
 * that is cut goes on where it was, without a gap or a repeat; one that the server refuses rejects.
 */
export async function* followSession(
  http: Http,
  path: string,
  { after = 0, clip, signal, onRetry, onConnect }: StreamOptions = {},
): AsyncGenerator<ClippedEvent | Preview> {
  let last = after;
  let failures = 0;
  for (;;) {
    let reason: CapstanApiError;
    try {
      for await (const item of connection(http, path, { after: last, clip, signal, onConnect })) {
        failures = 0;
        if ("seq" in item) last = item.seq;
        yield item;
      }
      reason = cut("The stream ended.");
    } catch (thrown) {
      if (signal?.aborted === true) return;
      reason = thrown instanceof CapstanApiError ? thrown : cut((thrown as Error).message);
    }
    if (signal?.aborted === true) return;
    failures += 1;
    if (!reason.isPassing || failures > MAX_FAILURES) throw reason;
    onRetry?.(failures, reason);
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
    await pause(Math.max(wait, (reason.retryAfter ?? 0) * 1_000), signal);
  }
}

async function* connection(
  http: Http,
  path: string,
  {
    after,
    clip,
    signal,
    onConnect,
  }: Pick<StreamOptions, "clip"> & {
    readonly after: number;
    readonly signal: AbortSignal | undefined;
    readonly onConnect: (() => void) | undefined;
  },
): AsyncGenerator<ClippedEvent | Preview> {
  const leaving = new AbortController();
  const watch = new Watch(() => leaving.abort(cut("Nothing was heard of the server.")));
  const either = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  try {
    const response = await http
      .send("GET", path, {
        query: { clip },
        signal: either,
        headers: { accept: "text/event-stream", ...(after > 0 && { "last-event-id": String(after) }) },
      })
      .catch((thrown: unknown) => {
        throw leaving.signal.aborted ? leaving.signal.reason : thrown;
      });
    if (response.body === null) throw refusalOf(undefined, response);
    onConnect?.();
    for await (const { event, data } of framesOf(response.body, { onBytes: () => watch.restart() })) {
      if (event === "ping") continue;
      const value: unknown = JSON.parse(data);
      if (event === "error") throw refusalOf(value, { status: 500, headers: response.headers });
      yield value as ClippedEvent | Preview;
    }
  } catch (thrown) {
    throw leaving.signal.aborted ? leaving.signal.reason : thrown;
  } finally {
    watch.stop();
    leaving.abort();
  }
}

class Watch {
  readonly #onQuiet: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
    this.restart();
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onQuiet, QUIET_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function cut(why: string): CapstanApiError {
  return new CapstanApiError(`The stream of the session was cut: ${why}`, { status: 0, type: "connection_error" });
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
