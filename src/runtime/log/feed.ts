import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedEvent, Preview, StoredEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";
import { OpenPreviews } from "./open-previews.ts";

/** Previews have no `seq`: they are not in the log. */
export type FeedItem = LoggedEvent | Preview;

/**
 * A reader that falls this far behind, in items or roughly in bytes, catches up from the store, and is told anew what is
 * being said by then.
 */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 1_048_576;
/** Events of one read of the store: as many as there may be in so many bytes, roughly. */
const FEWEST = 16;
const MOST = 500;
const PAGE_BYTES = 1_048_576;
/** In milliseconds: what a reader has not taken by then of a page is let go, and read again when it wants more. */
const PAGE_KEPT = 1_000;
/** How often a session that another process drives is looked at, and at every how many of these whether it is still there. */
const POLL_MS = 200;
const STILL_THERE_EVERY = 10;

/** What a session says, to everyone who listens in this process. A slow listener never slows the session. */
export class Feed {
  readonly #readers = new Set<Reader>();
  readonly #open = new OpenPreviews();
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
    this.#open.see(item);
    const bytes = sizeOf(item);
    for (const reader of this.#readers) reader.push(item, bytes);
  }

  /** The session is not driven here any more: what it was saying is lost, and readers look again who drives it now. */
  release(): void {
    this.#open.clear();
    for (const reader of this.#readers) reader.wake();
  }

  /**
   * All events after `after`, without a gap or a repeat, and live previews between them. Ends when `signal` aborts, and
   * when the session is deleted.
   * The store is the source; what is published live only saves reading it. Whoever comes in the middle of a message, or
   * could not keep up with it, is told from its start: `event_start`, and all of its text so far.
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
          for await (const event of stored(store, { sessionId, after: seq, signal })) {
            seq = event.seq;
            reader.told(event);
            yield event;
          }
          reader.caughtUp(live() ? this.#open.all() : []);
        }
        for (let item = reader.shift(); item !== undefined && !signal.aborted; item = reader.shift()) {
          if ("seq" in item && item.seq <= seq) continue;
          // Something between was never said here: another process wrote it, or this reader was too slow.
          if ("seq" in item && item.seq !== seq + 1) {
            reader.fallBehind();
            break;
          }
          if ("seq" in item) seq = item.seq;
          reader.told(item);
          yield item;
        }
        if (reader.isBehind || signal.aborted) continue;
        await (live() ? reader.changed() : sleep(POLL_MS, undefined, { signal }).catch(() => {}));
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

/** What is stored after a place, page by page. A reader that stalls in the middle of a page keeps none of it in memory. */
async function* stored(
  store: Store,
  { sessionId, after, signal }: { sessionId: string; after: number; signal: AbortSignal },
): AsyncGenerator<LoggedEvent> {
  let seq = after;
  let limit = FEWEST;
  do {
    // An object, so that it can be let go while this waits.
    const page = { events: await store.events(sessionId, { after: seq, limit }) };
    const { length } = page.events;
    const isLast = length < limit;
    limit = nextLimit(page.events);
    const timer = setTimeout(() => (page.events = []), PAGE_KEPT).unref();
    try {
      for (let at = 0; at < length; at += 1) {
        const event = page.events[at];
        if (event === undefined) break;
        seq = event.seq;
        yield logged(event);
      }
    } finally {
      clearTimeout(timer);
    }
    if (isLast && page.events.length === length) return;
  } while (!signal.aborted);
}

/** By the size of the first and the last event, which is looked at instead of all of them. */
function nextLimit(page: readonly StoredEvent[]): number {
  const bytes = [page[0], page.at(-1)].reduce((sum, stored) => sum + JSON.stringify(stored?.event ?? "").length, 0);
  return Math.max(FEWEST, Math.min(MOST, Math.floor((2 * PAGE_BYTES) / bytes)));
}

/** Roughly, in bytes, and computed once for all readers. */
function sizeOf(item: FeedItem): () => number {
  let size: number | undefined;
  return () => (size ??= JSON.stringify(item).length);
}

export function logged({ seq, event }: StoredEvent): LoggedEvent {
  return { ...event, seq };
}

class Reader {
  #waiting: FeedItem[] = [];
  /** Roughly: what was pushed since nothing waited. */
  #bytes = 0;
  #wake: (() => void) | undefined;
  /**
   * What was said is to be read from the store first. Until then no preview is kept: it would come before what it
   * follows. Starts true, for what was said before the subscription.
   */
  isBehind = true;
  /** It could not even keep the events that came while it was catching up. */
  #hasLost = false;
  /** Previews that it was told the start of, and not the end. */
  readonly #known = new Set<string>();

  push(item: FeedItem, bytes: () => number): void {
    // Whoever keeps up has nothing waiting, and costs nothing here.
    if (this.#waiting.length === 0) this.#bytes = 0;
    else this.#bytes += bytes();
    if (this.#waiting.length >= MAX_WAITING || this.#bytes > MAX_WAITING_BYTES) this.fallBehind();
    if (!this.isBehind || "seq" in item) this.#waiting.push(item);
    this.wake();
  }

  /** Nothing is lost but previews: events are in the store before they are published. */
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
   * `open`: previews that are open after all that was published until now, and thus behind all that waits. What this
   * reader knows and is not among them will not be finished, unless that waits too.
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

  /** To be called with all that the reader is told. */
  told(item: FeedItem): void {
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

  changed(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
