import type { Preview } from "../core/events/events.ts";
import type { ClippedEvent } from "../protocol/api/session-requests.ts";
import { type Connect, cut } from "./connection.ts";
import { CapstanApiError } from "./error.ts";

export interface StreamOptions {
  /** Only events after this place in the log. Default: all. */
  readonly after?: number;
  /** In characters: texts in events that are longer are cut. Default: events are whole. */
  readonly clip?: number;
  /**
   * Default: server-sent events. Of those a browser takes no more than six from a server, over all its tabs; a socket
   * needs a login's cookie.
   */
  readonly over?: "events" | "socket";
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
      for await (const item of watched(connect, { after: last, clip, onOpen }, signal)) {
        failures = 0;
        if ("seq" in item) last = item.seq;
        yield item;
      }
      reason = cut("The stream ended.");
    } catch (thrown) {
      if (isOver()) return;
      reason = thrown instanceof CapstanApiError ? thrown : cut((thrown as Error).message);
    }
    if (isOver()) return;
    failures += 1;
    if (!reason.isPassing || failures > MAX_FAILURES) throw reason;
    onRetry?.(failures, reason);
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
    await pause(Math.max(wait, (reason.retryAfter ?? 0) * 1_000), signal);
  }
}

async function* watched(
  connect: Connect,
  asked: Omit<Parameters<Connect>[0], "signal" | "onSign">,
  signal: AbortSignal | undefined,
): AsyncGenerator<ClippedEvent | Preview> {
  const leaving = new AbortController();
  const watch = new Watch(() => leaving.abort(cut("Nothing was heard of the server.")));
  const either = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  try {
    yield* connect({ ...asked, signal: either, onSign: () => watch.restart() });
    // A socket that is closed here ends without a word.
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
