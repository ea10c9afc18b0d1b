import type { Clock } from "../../core/ports/clock.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";

/** In milliseconds. A stream opened later than this after sending something does not include what came before. */
const OPENED_WITHIN = 60_000;
/** At most this many unfollowed sessions are remembered. */
const MAX_REMEMBERED = 10_000;

/** A caller who may send to a session and follow it. One caller's stream does not include what another has sent. */
export interface Watcher {
  readonly sessionId: string;
  readonly callerId: string;
}

/**
 * Remembers what was sent to sessions. A stream normally starts with what happens after it is opened. But many clients
 * send first and then open the stream, and a fast turn may be over by then. Their stream starts where they sent, unless
 * another stream has already shown the turn to its end.
 */
export class Watchers {
  readonly #clock: Clock;
  readonly #open = new Map<string, number>();
  readonly #sent = new Map<string, { readonly after: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isWatched(watcher: Watcher): boolean {
    return this.#open.has(nameOf(watcher));
  }

  /** `after`: the last sequence number before the sent event. */
  noteSent(watcher: Watcher, after: number): void {
    const name = nameOf(watcher);
    this.#sent.delete(name);
    this.#sent.set(name, { after, at: this.#clock.now() });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_REMEMBERED && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** Where a new stream starts if something was just sent; used by one stream only. */
  takeSent(watcher: Watcher): number | undefined {
    const name = nameOf(watcher);
    const sent = this.#sent.get(name);
    this.#sent.delete(name);
    return sent === undefined || this.#clock.now() - sent.at > OPENED_WITHIN ? undefined : sent.after;
  }

  /** Tracks a stream while it is open. */
  async *watch(watcher: Watcher, items: AsyncIterable<LoggedEvent | Preview>): AsyncGenerator<LoggedEvent | Preview> {
    const name = nameOf(watcher);
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    try {
      for await (const item of items) {
        yield item;
        // Not reached if the client has disconnected.
        if (item.type === "session.status_idle") this.#noteTold(name, item.seq);
      }
    } finally {
      const left = (this.#open.get(name) ?? 1) - 1;
      if (left > 0) this.#open.set(name, left);
      else this.#open.delete(name);
    }
  }

  #noteTold(name: string, seq: number): void {
    const sent = this.#sent.get(name);
    if (sent !== undefined && seq > sent.after) this.#sent.delete(name);
  }
}

/** Ids contain no spaces. */
function nameOf({ sessionId, callerId }: Watcher): string {
  return `${sessionId} ${callerId}`;
}
