import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionEvent, StoredEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";

/** Events per read; others have their turn in between, because a store answers at once and a log may be long. */
const PAGE = 100;

/** What was said takes up most of a log, and says nothing about files. */
const SAID: ReadonlySet<SessionEvent["type"]> = new Set(["user.message", "agent.message", "agent.thinking"]);

/** All that a log has about files: without what was said, and without what calls gave. */
export async function fileEvents(store: Pick<Store, "events">, sessionId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = 0; ;) {
    const page = await store.events(sessionId, { after, limit: PAGE });
    for (const stored of page) if (!SAID.has(stored.event.type)) events.push(withoutContent(stored));
    if (page.length < PAGE) return events;
    after = page.at(-1)?.seq ?? after;
    await nextTick();
  }
}

function withoutContent(stored: StoredEvent): StoredEvent {
  const { event } = stored;
  if (event.type !== "agent.tool_result" && event.type !== "agent.mcp_tool_result") return stored;
  return { ...stored, event: { ...event, content: [] } };
}
