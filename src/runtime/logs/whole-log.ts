import { setImmediate as nextTick } from "node:timers/promises";
import type { StoredEvent } from "../../core/events.ts";
import type { Store } from "../../core/store.ts";

/** Events per read; others have their turn in between, because a store answers at once and a log may be long. */
const PAGE = 500;

export async function wholeLog(store: Pick<Store, "events">, sessionId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await store.events(sessionId, { after: events.at(-1)?.seq ?? 0, limit: PAGE });
    events.push(...page);
    if (page.length < PAGE) return events;
    await nextTick();
  }
}
