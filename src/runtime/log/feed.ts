import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedEvent, Preview, StoredEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";
import { OpenPreviews } from "./open-previews.ts";

/** Previews have no `seq`: they are not in the log. */
export type FeedItem = LoggedEvent | Preview;

/**
 * A reader that falls this far behind, in items or roughly in bytes, catches up from the store, and then gets the open
 * previews again.
 */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 1_048_576;
/** Events per read of the store: roughly as many as fit into this many bytes. */
const FEWEST = 16;
const MOST = 500;
const PAGE_BYTES = 1_048_576;
/** In milliseconds: the part of a page that a reader has not taken by then is dropped, and read again when needed. */
const PAGE_KEPT = 1_000;
/** How often to look at a session that another process drives, and after how many looks to check that it still exists. */
const POLL_MS = 200;
const STILL_THERE_EVERY = 10;

/** Passes what a session reports to every listener in this process. A slow listener never slows the session. */
export class Feed {
  readonly #readers = new Set<Reader>();
  readonly #open = new OpenPreviews();
  readonly #onPublish: (item: FeedItem) => void;

  /** `onPublish` gets every item first. */
  constructor(onPublish: (item: FeedItem) => void = () => {}) {
    this.#onPublish = onPublish;
  }

  get isFollowed(): boolean {
    return this.#readers.size > 0;
  }

  publish(item: FeedItem): void {
    this.#onPublish(item);
    this.#open.see(item);
    const bytes = sizeOf(item);
    for (const reader of this.#readers) reader.push(item, bytes);
  }

  /** This host no longer drives the session: open previews are lost, and readers check again who drives it. */
  release(): void {
    this.#open.clear();
    for (const reader of this.#readers) reader.wake();
  }

  /**
   * All events after `after`, without a gap or a repeat, and live previews between them. Ends when `signal` aborts, and
   * when the session is deleted.
   * The store is the source; live items only save reading it. A reader that arrives in the middle of a message, or could
   * not keep up with it, gets it from its start: `event_start`, and all of its text so far.
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
        if (!live()) reader.fallBehind();
        if (reader.isBehind) {
          reader.beginCatchingUp();
          for await (const event of readStored(store, { sessionId, after: seq, signal })) {
            seq = event.seq;
            reader.noteDelivered(event);
            yield event;
          }
          reader.caughtUp(live() ? this.#open.all() : []);
        }
        for (let item = reader.shift(); item !== undefined && !signal.aborted; item = reader.shift()) {
          if ("seq" in item && item.seq <= seq) continue;
          // Some events were never published here: another process wrote them, or this reader was too slow.
          if ("seq" in item && item.seq !== seq + 1) {
            reader.fallBehind();
            break;
          }
          if ("seq" in item) seq = item.seq;
          reader.noteDelivered(item);
          yield item;
        }
        if (reader.isBehind || signal.aborted) continue;
        await (live() ? reader.waitForChange() : sleep(POLL_MS, undefined, { signal }).catch(() => {}));
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

/** The stored events after a sequence number, page by page. A reader that stalls within a page keeps none of it in memory. */
async function* readStored(
  store: Store,
  { sessionId, after, signal }: { sessionId: string; after: number; signal: AbortSignal },
): AsyncGenerator<LoggedEvent> {
  let seq = after;
  let limit = FEWEST;
  do {
    // An object, so that it can be dropped while this waits.
    const page = { events: await store.events(sessionId, { after: seq, limit }) };
    // Readers get only what is on disk.
    await store.sync();
    const { length } = page.events;
    const isLast = length < limit;
    limit = nextLimit(page.events);
    const timer = setTimeout(() => (page.events = []), PAGE_KEPT).unref();
    try {
      for (let at = 0; at < length; at += 1) {
        const event = page.events[at];
        if (event === undefined) break;
        seq = event.seq;
        yield toLoggedEvent(event);
      }
    } finally {
      clearTimeout(timer);
    }
    if (isLast && page.events.length === length) return;
  } while (!signal.aborted);
}

/** Estimated from the size of the first and the last event. */
function nextLimit(page: readonly StoredEvent[]): number {
  const bytes = [page[0], page.at(-1)].reduce((sum, stored) => sum + JSON.stringify(stored?.event ?? "").length, 0);
  return Math.max(FEWEST, Math.min(MOST, Math.floor((2 * PAGE_BYTES) / bytes)));
}

/** Roughly, in bytes, and computed once for all readers. */
function sizeOf(item: FeedItem): () => number {
  let size: number | undefined;
  return () => (size ??= JSON.stringify(item).length);
}

export function toLoggedEvent({ seq, event }: StoredEvent): LoggedEvent {
  return { ...event, seq };
}

class Reader {
  #waiting: FeedItem[] = [];
  /** Roughly: what was pushed since the queue was last empty. */
  #bytes = 0;
  #wake: (() => void) | undefined;
  /**
   * Earlier events must be read from the store first. Until then no preview is kept: it would arrive before the events
   * that it follows. Starts true, for events before the subscription.
   */
  isBehind = true;
  /** Too many events arrived while it was catching up. */
  #hasLost = false;
  /** Previews whose start this reader got, but not their end. */
  readonly #known = new Set<string>();

  push(item: FeedItem, bytes: () => number): void {
    // A reader that keeps up has nothing waiting, and costs nothing here.
    if (this.#waiting.length === 0) this.#bytes = 0;
    else this.#bytes += bytes();
    if (this.#waiting.length >= MAX_WAITING || this.#bytes > MAX_WAITING_BYTES) this.fallBehind();
    if (!this.isBehind || "seq" in item) this.#waiting.push(item);
    this.wake();
  }

  /** Only previews are lost: events are in the store before they are published. */
  fallBehind(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.isBehind = true;
    this.#hasLost = true;
  }

  beginCatchingUp(): void {
    this.#hasLost = false;
  }

  /**
   * `open`: previews that are open after everything published so far, and so after everything that waits. A preview that
   * this reader knows and that is not among them is never finished, unless its end waits too.
   */
  caughtUp(open: readonly Preview[]): void {
    if (this.#hasLost) return;
    this.isBehind = false;
    const ending = this.#waiting.flatMap((item) => ("seq" in item ? [item.id] : []));
    const going = open.flatMap((item) => (item.type === "event_start" ? [item.event.id] : []));
    for (const id of this.#known.difference(new Set([...ending, ...going])))
      this.#waiting.push({ type: "capstan.event_withdrawn", event_id: id });
    this.#waiting.push(...open);
  }

  /** Call this with every item that the reader gets. */
  noteDelivered(item: FeedItem): void {
    if (item.type === "session.status_idle") this.#known.clear();
    else if (item.type === "event_start") this.#known.add(item.event.id);
    else if (item.type === "capstan.event_withdrawn") this.#known.delete(item.event_id);
    else if ("seq" in item) this.#known.delete(item.id);
  }

  shift(): FeedItem | undefined {
    return this.#waiting.shift();
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  waitForChange(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
