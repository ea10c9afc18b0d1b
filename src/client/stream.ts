import type { Preview } from "../core/events/events.ts";
import type { ClippedEvent } from "../protocol/api/session-requests.ts";
import { type Connect, streamCutError } from "./connection.ts";
import { CapstanApiError } from "./error.ts";

export interface StreamOptions {
  /** Only events after this log position. Default: all. */
  readonly after?: number;
  /** In characters: longer texts in events are cut. Default: events are complete. */
  readonly clip?: number;
  /**
   * Default: server-sent events. Browsers allow only six of them per server across all tabs; a socket needs a login's
   * cookie.
   */
  readonly over?: "events" | "socket";
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Called before each new attempt: how many have failed in a row, and why. */
  readonly onRetry?: (failures: number, reason: CapstanApiError) => void;
  /** Called when the server has accepted, initially and after each reconnect: from then on no event is missed. */
  readonly onConnect?: () => void;
}

/** In milliseconds. The server sends a heartbeat every fifteen seconds; without one, the connection counts as lost. */
const QUIET_MS = 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Consecutive failures, about two minutes, after which the stream gives up. */
const MAX_FAILURES = 15;

/**
 * Yields every event of a session from a log position on, then new ones as they happen, and previews of text being
 * written. Resumes without gaps or repeats if the connection is cut off; rejects if the server refuses.
 */
export async function* followSession(
  connect: Connect,
  { after = 0, clip, signal, onRetry, onConnect }: StreamOptions = {},
): AsyncGenerator<ClippedEvent | Preview> {
  let last = after;
  let failures = 0;
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    let reason: CapstanApiError;
    try {
      const onOpen = (): void => onConnect?.();
      for await (const item of watchStream(connect, { after: last, clip, onOpen }, signal)) {
        failures = 0;
        if ("seq" in item) last = item.seq;
        yield item;
      }
      reason = streamCutError("The stream ended.");
    } catch (thrown) {
      if (isOver()) return;
      reason = thrown instanceof CapstanApiError ? thrown : streamCutError((thrown as Error).message);
    }
    if (isOver()) return;
    failures += 1;
    if (!reason.isPassing || failures > MAX_FAILURES) throw reason;
    onRetry?.(failures, reason);
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
    await pause(Math.max(wait, (reason.retryAfter ?? 0) * 1_000), signal);
  }
}

async function* watchStream(
  connect: Connect,
  asked: Omit<Parameters<Connect>[0], "signal" | "onSign">,
  signal: AbortSignal | undefined,
): AsyncGenerator<ClippedEvent | Preview> {
  const leaving = new AbortController();
  const watch = new Watch(() => leaving.abort(streamCutError("The server sent nothing.")));
  const either = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  try {
    yield* connect({ ...asked, signal: either, onSign: () => watch.restart() });
    // A socket closed on this side ends without an error.
    leaving.signal.throwIfAborted();
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

/** Resolves early when the signal aborts. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = (): void => resolve();
  signal?.addEventListener("abort", stop, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", stop);
}
