import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedEvent, Preview, StoredEvent } from "../core/events.ts";
import type { Store } from "../core/store.ts";

/** Previews have no `seq`: they are not in the log. */
export type FeedItem = LoggedEvent | Preview;

/** A reader that falls this far behind loses previews and catches up from the store. */
const MAX_WAITING = 1_000;
const PAGE = 500;
/** How often a session that another process drives is looked at, and at every how many of these whether it is still there. */
const POLL_MS = 200;
const STILL_THERE_EVERY = 10;

/** What a session says, to everyone who listens in this process. A slow listener never slows the session. */
export class Feed {
  readonly #readers = new Set<Reader>();
  readonly #onPublish: (item: FeedItem) => void;

  /** `onPublish` is told first, of everything. */
  constructor(onPublish: (item: FeedItem) => void = () => {}) {
    this.#onPublish = onPublish;
  }

  get isFollowed(): boolean {
    return this.#readers.size > 0;
  }

  publish(item: FeedItem): void {
    this.#onPublish(item);
    for (const reader of this.#readers) reader.push(item);
  }

  /** Lets readers look again who drives the session now. */
  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /**
   * All events after `after`, without a gap or a repeat, and live previews between them. Ends when `signal` aborts, and
   * when the session is deleted.
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
      for (let looks = 1; !signal.aborted; looks += 1) {
        if (!live() && looks % STILL_THERE_EVERY === 0 && (await store.session(sessionId)) === undefined) return;
        if (reader.takeLag() || !live()) {
          for await (const event of stored(store, { sessionId, after: seq, signal })) {
            seq = event.seq;
            yield event;
          }
        }
        for (let item = reader.shift(); item !== undefined && !signal.aborted; item = reader.shift()) {
          if ("seq" in item && item.seq <= seq) continue;
          // Something between was never said here: another process wrote it, or this reader was too slow.
          if ("seq" in item && item.seq !== seq + 1) {
            for await (const event of stored(store, { sessionId, after: seq, signal })) {
              seq = event.seq;
              yield event;
            }
            continue;
          }
          if ("seq" in item) seq = item.seq;
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

/** What is stored after a place, page by page. */
async function* stored(
  store: Store,
  { sessionId, after, signal }: { sessionId: string; after: number; signal: AbortSignal },
): AsyncGenerator<LoggedEvent> {
  let seq = after;
  let page: readonly StoredEvent[];
  do {
    page = await store.events(sessionId, { after: seq, limit: PAGE });
    for (const event of page) {
      seq = event.seq;
      yield logged(event);
    }
  } while (page.length === PAGE && !signal.aborted);
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
