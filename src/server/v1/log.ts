import { setImmediate as nextTick } from "node:timers/promises";
import type { LoggedEvent } from "../../core/events/events.ts";
import { type EvaluatedEvent, Evaluations } from "../../protocol/v1/evaluations.ts";
import { isListed, type EventFilter } from "../../protocol/v1/events.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { PAGE_BYTES, roughSize } from "../answers/page.ts";
import { evaluate } from "./evaluate.ts";

/** Reads logs page by page. */

const WINDOW = 50;

/** Yields events in order, starting after `after`. Reads in pages, because a whole log may not fit into memory. */
export async function* eventsAfter(runtime: Runtime, sessionId: string, after: number): AsyncGenerator<LoggedEvent> {
  for (let seq = after; ;) {
    const page = await runtime.read(sessionId, { after: seq, limit: WINDOW });
    yield* page;
    seq = page.at(-1)?.seq ?? seq;
    if (page.length < WINDOW) return;
    // Yield to other requests: a log may be long.
    await nextTick();
  }
}

/** In reverse order, starting before `before`. */
async function* eventsBefore(runtime: Runtime, sessionId: string, before: number): AsyncGenerator<EvaluatedEvent> {
  const evaluations = new Evaluations();
  // Decisions about the first calls follow them within the same turn.
  for await (const event of eventsAfter(runtime, sessionId, before - 1)) {
    evaluations.see(event);
    if (event.type === "session.status_idle") break;
  }
  for (let upTo = before - 1; upTo > 0; upTo -= WINDOW) {
    for (const event of (await runtime.read(sessionId, { after: Math.max(0, upTo - WINDOW), upTo })).toReversed()) {
      evaluations.see(event);
      yield evaluations.evaluate(event);
    }
    await nextTick();
  }
}

export interface EventPage {
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** The sequence number at which an earlier page ended. */
  readonly from: number | undefined;
  readonly filter: EventFilter;
  readonly isWanted: (event: EvaluatedEvent) => boolean;
}

/** Returns a page, limited by count and size, and whether there are more. */
export async function readPage(
  runtime: Runtime,
  sessionId: string,
  page: EventPage,
): Promise<{ readonly events: readonly EvaluatedEvent[]; readonly hasMore: boolean }> {
  const { order, limit, from, filter, isWanted } = page;
  const source =
    order === "asc"
      ? evaluate(eventsAfter(runtime, sessionId, from ?? 0))
      : eventsBefore(runtime, sessionId, from ?? (await runtime.head(sessionId)) + 1);
  const isShown = isListed(filter);
  const events: EvaluatedEvent[] = [];
  let bytes = 0;
  for await (const event of source) {
    if (!("seq" in event) || !isWanted(event) || !isShown(event)) continue;
    bytes += roughSize(event);
    if (events.length === limit || (events.length > 0 && bytes > PAGE_BYTES)) return { events, hasMore: true };
    events.push(event);
  }
  return { events, hasMore: false };
}
