import type { Clock, Ids } from "../core/clock.ts";
import type { EventDraft, Preview, SessionEvent, StoredEvent } from "../core/events.ts";
import { initialState, reduce, type SessionState } from "../core/state.ts";
import type { Lease, Store } from "../core/store.ts";
import { type Feed, logged } from "./feed.ts";

/** A snapshot every so many events keeps the opening of a session independent of the length of its log. */
const SNAPSHOT_EVERY = 500;

type Made = readonly EventDraft[] | Promise<readonly EventDraft[]>;
type Drafts = readonly EventDraft[] | ((state: SessionState) => Made);

/** The one writer of a session's log: persists first, then folds the state, then publishes. */
export class SessionLog {
  readonly #deps: LogDeps;
  #state: SessionState;
  #head: number;
  #snapshotAt: number;
  /** Appends run one after another: each needs the sequence number of the one before. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(deps: LogDeps, at: { state: SessionState; head: number; snapshotAt: number }) {
    this.#deps = deps;
    this.#state = at.state;
    this.#head = at.head;
    this.#snapshotAt = at.snapshotAt;
  }

  static async open(deps: LogDeps): Promise<SessionLog> {
    const { state, seq, snapshotAt } = await loadState(deps.store, deps.sessionId);
    return new SessionLog(deps, { state, head: seq, snapshotAt });
  }

  get state(): SessionState {
    return this.#state;
  }

  get head(): number {
    return this.#head;
  }

  /** Drafts given as a function see the state that no other append can change before they are stored. */
  append(drafts: Drafts): Promise<readonly StoredEvent[]> {
    const appended = this.#queue.then(async () =>
      this.#append(typeof drafts === "function" ? await drafts(this.#state) : drafts),
    );
    this.#queue = appended.catch(() => {});
    return appended;
  }

  /** In order with the events around it, but never stored. */
  preview(preview: Preview): void {
    void this.#queue.then(() => this.#deps.feed.publish(preview));
  }

  async #append(drafts: readonly EventDraft[]): Promise<readonly StoredEvent[]> {
    if (drafts.length === 0) return [];
    const { store, sessionId, lease, feed } = this.#deps;
    const events = drafts.map((draft) => this.#finish(draft));
    const stored = await store.append(sessionId, { after: this.#head, events, fence: lease.fence });
    for (const { event, seq } of stored) this.#state = reduce(this.#state, event, seq);
    this.#head += stored.length;
    for (const event of stored) feed.publish(logged(event));
    if (this.#head - this.#snapshotAt >= SNAPSHOT_EVERY) {
      this.#snapshotAt = this.#head;
      // The events are stored and told; a snapshot that fails only makes the next opening slower.
      await store.saveSnapshot(sessionId, { seq: this.#head, state: this.#state }).catch(() => {});
    }
    return stored;
  }

  #finish(draft: EventDraft): SessionEvent {
    const { ids, clock } = this.#deps;
    // A message is processed when the engine takes it, which is a fact of its own.
    const processedAt = draft.type === "user.message" ? null : new Date(clock.now()).toISOString();
    return { ...draft, id: draft.id ?? ids.next("sevt"), processed_at: processedAt } as SessionEvent;
  }
}

export interface LogDeps {
  readonly store: Store;
  readonly sessionId: string;
  readonly lease: Lease;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Snapshot plus tail. */
async function loadState(
  store: Store,
  sessionId: string,
): Promise<{ state: SessionState; seq: number; snapshotAt: number }> {
  const snapshot = await store.snapshot(sessionId);
  const tail = await store.events(sessionId, { after: snapshot?.seq ?? 0 });
  const state = tail.reduce((folded, { event, seq }) => reduce(folded, event, seq), snapshot?.state ?? initialState);
  return { state, seq: tail.at(-1)?.seq ?? snapshot?.seq ?? 0, snapshotAt: snapshot?.seq ?? 0 };
}
