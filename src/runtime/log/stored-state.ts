import { setImmediate as nextTick } from "node:timers/promises";
import { initialState, reduce, type SessionState } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";

/** Snapshot plus tail. */
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
    // A log may be long, and others have their turn in between.
    await nextTick();
  }
  return state;
}
