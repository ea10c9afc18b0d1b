import { setImmediate as nextTick } from "node:timers/promises";
import type { SessionEvent, StoredEvent } from "../../core/events/events.ts";
import { initialState, reduce, type SessionState } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";

/** The state of a session: its snapshot, and the events after it. */
export async function loadState(
  store: Store,
  sessionId: string,
): Promise<{ state: SessionState; seq: number; snapshotAt: number }> {
  const snapshot = await store.snapshot(sessionId);
  let [state, seq] = [snapshot?.state ?? initialState, snapshot?.seq ?? 0];
  for (let isWhole = false; !isWhole;) {
    const page = await store.events(sessionId, { after: seq, limit: FOLD_PAGE });
    state = page.reduce((folded, { event, seq: at }) => reduce(folded, event, at), state);
    seq = page.at(-1)?.seq ?? seq;
    isWhole = page.length < FOLD_PAGE;
  }
  return { state, seq, snapshotAt: snapshot?.seq ?? 0 };
}

/** How many events are held in memory at once: each may be long. */
const FOLD_PAGE = 50;

/** The state right after an event that is in the log. */
export async function stateAt(store: Store, sessionId: string, at: number): Promise<SessionState> {
  const snapshot = await store.snapshot(sessionId);
  const from = snapshot !== undefined && snapshot.seq <= at ? snapshot : { seq: 0, state: initialState };
  let { state } = from;
  for (let after = from.seq; after < at; after += FOLD_PAGE) {
    const page = await store.events(sessionId, { after, upTo: Math.min(at, after + FOLD_PAGE) });
    state = page.reduce((folded, { event, seq }) => reduce(folded, event, seq), state);
    // A log may be long; others get their turn in between.
    await nextTick();
  }
  return state;
}

/** Events per read. Others get their turn in between: the store answers at once, and a log may be long. */
const FILE_PAGE = 100;

/** Messages take up most of a log, and say nothing about files. */
const SAID: ReadonlySet<SessionEvent["type"]> = new Set(["user.message", "agent.message", "agent.thinking"]);

/** The events that may be about files: without messages, and without the content of results. */
export async function fileEvents(store: Pick<Store, "events">, sessionId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = 0; ;) {
    const page = await store.events(sessionId, { after, limit: FILE_PAGE });
    for (const stored of page) if (!SAID.has(stored.event.type)) events.push(withoutContent(stored));
    if (page.length < FILE_PAGE) return events;
    after = page.at(-1)?.seq ?? after;
    await nextTick();
  }
}

function withoutContent(stored: StoredEvent): StoredEvent {
  const { event } = stored;
  if (event.type !== "agent.tool_result" && event.type !== "agent.mcp_tool_result") return stored;
  return { ...stored, event: { ...event, content: [] } };
}
