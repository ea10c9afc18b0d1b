import type { Clock } from "../../core/ports/clock.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";

/** In milliseconds. Whoever opens a stream later than this after sending something does not wait for what follows from it. */
const OPENED_WITHIN = 60_000;
/** Of sessions that nobody ever follows, the last ones are remembered. */
const MAX_REMEMBERED = 10_000;

/** Somebody who may send to a session and follow it. What one has sent is not told to another's stream. */
export interface Watcher {
  readonly sessionId: string;
  readonly callerId: string;
}

/**
 * What was sent to sessions, and is waited for. A stream tells what happens from its beginning on; but many clients send
 * first and open the stream then, and a fast turn may be over by that time. They are told what happened since they sent,
 * unless another stream has told it to its end.
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

  /** `after`: the last sequence number before what was sent. */
  sent(watcher: Watcher, after: number): void {
    const name = nameOf(watcher);
    this.#sent.delete(name);
    this.#sent.set(name, { after, at: this.#clock.now() });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_REMEMBERED && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** Where a new stream begins when something was just sent; told to one. */
  takeSent(watcher: Watcher): number | undefined {
    const name = nameOf(watcher);
    const sent = this.#sent.get(name);
    this.#sent.delete(name);
    return sent === undefined || this.#clock.now() - sent.at > OPENED_WITHIN ? undefined : sent.after;
  }

  /** What a stream tells, while it does. */
  async *watched(watcher: Watcher, items: AsyncIterable<LoggedEvent | Preview>): AsyncGenerator<LoggedEvent | Preview> {
    const name = nameOf(watcher);
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    try {
      for await (const item of items) {
        yield item;
        // A client that has gone does not come this far.
        if (item.type === "session.status_idle") this.#told(name, item.seq);
      }
    } finally {
      const left = (this.#open.get(name) ?? 1) - 1;
      if (left > 0) this.#open.set(name, left);
      else this.#open.delete(name);
    }
  }

  #told(name: string, seq: number): void {
    const sent = this.#sent.get(name);
    if (sent !== undefined && seq > sent.after) this.#sent.delete(name);
  }
}

/** Ids have no spaces. */
function nameOf({ sessionId, callerId }: Watcher): string {
  return `${sessionId} ${callerId}`;
}
