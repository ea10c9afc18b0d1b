import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedEvent, Preview, StoredEvent } from "../core/events.ts";
import type { Store } from "../core/store.ts";

/** Previews have no `seq`: they are not in the log. */
export type FeedItem = LoggedEvent | Preview;

/** A reader that falls this far behind loses previews and catches up from the store. */
const MAX_WAITING = 1_000;
const PAGE = 500;
/** How often a session that another process drives is looked at. */
const POLL_MS = 200;

/** What a session says, to everyone who listens in this process. A slow listener never slows the session. */
export class Feed {
  readonly #readers = new Set<Reader>();

  publish(item: FeedItem): void {
    for (const reader of this.#readers) reader.push(item);
  }

  /** Lets readers look again who drives the session now. */
  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /**
   * All events after `after`, without a gap or a repeat, and live previews between them. Ends when `signal` aborts.
   * The store is the source; what is published live only saves reading it.
   */
  async *subscribe(
    store: Store,
    { sessionId, after, signal, live }: { sessionId: string; after: number; signal: AbortSignal; live: () => boolean },
  ): AsyncGenerator<FeedItem> {
    const reader = new Reader();
    this.#readers.add(reader);
    signal.addEventListener("abort", () => reader.wake(), { once: true });
    try {
      let seq = after;
      while (!signal.aborted) {
        if (reader.takeLag() || !live()) {
          let page: readonly StoredEvent[];
          do {
            page = await store.events(sessionId, { after: seq, limit: PAGE });
            for (const event of page) {
              seq = event.seq;
              yield logged(event);
            }
          } while (page.length === PAGE && !signal.aborted);
        }
        for (let item = reader.shift(); item !== undefined && !signal.aborted; item = reader.shift()) {
          if ("seq" in item) {
            if (item.seq <= seq) continue;
            seq = item.seq;
          }
          yield item;
        }
        if (reader.lagging || signal.aborted) continue;
        await (live() ? reader.changed() : sleep(POLL_MS, undefined, { signal }).catch(() => {}));
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

export function logged({ seq, event }: StoredEvent): LoggedEvent {
  return { ...event, seq };
}

class Reader {
  #waiting: FeedItem[] = [];
  #wake: (() => void) | undefined;
  /** Starts true: what was said before the subscription is read from the store. */
  lagging = true;

  push(item: FeedItem): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting = [];
      this.lagging = true;
    }
    if (!this.lagging || "seq" in item) this.#waiting.push(item);
    this.wake();
  }

  shift(): FeedItem | undefined {
    return this.#waiting.shift();
  }

  takeLag(): boolean {
    const lagged = this.lagging;
    this.lagging = false;
    return lagged;
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  changed(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
