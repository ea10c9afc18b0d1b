import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EventDraft, Preview, SessionEvent, StoredEvent } from "../../core/events/events.ts";
import type { Redactor, Secret } from "../../core/redaction/redaction.ts";
import { initialState, reduce, type SessionState } from "../../core/session/state.ts";
import type { AppendBatch, Lease, SessionChange, Store } from "../../core/ports/store.ts";
import { type Feed, logged } from "./feed.ts";

/** A snapshot every so many events keeps the opening of a session independent of the length of its log. */
const SNAPSHOT_EVERY = 500;

type Made = readonly EventDraft[] | Promise<readonly EventDraft[]>;
type Drafts = readonly EventDraft[] | ((state: SessionState) => Made);

/**
 * The one writer of a session's log: takes secrets out, persists, then folds the state, then publishes. Nobody is shown
 * what is not stored.
 */
export class SessionLog {
  readonly #deps: LogDeps;
  #state: SessionState;
  #head: number;
  #snapshotAt: number;
  #redactor: Redactor;
  /** Messages that were redacted and that the engine has not taken yet: it is to get what the user really wrote. */
  readonly #asWritten = new Map<string, MessageContent>();
  /** Appends run one after another: each needs the sequence number of the one before. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(deps: LogDeps, at: { state: SessionState; head: number; snapshotAt: number }) {
    this.#deps = deps;
    this.#state = at.state;
    this.#head = at.head;
    this.#snapshotAt = at.snapshotAt;
    this.#redactor = deps.redactor;
  }

  static async open(deps: LogDeps): Promise<SessionLog> {
    const { state, seq, snapshotAt } = await loadState(deps.store, deps.sessionId);
    return new SessionLog(deps, { state, head: seq, snapshotAt });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Of the lease that lets this writer write. */
  get fence(): number {
    return this.#deps.lease.fence;
  }

  get head(): number {
    return this.#head;
  }

  /**
   * Drafts given as a function see the state that no other append can change before they are stored. `change`: of the
   * session's record, stored with them.
   */
  append(drafts: Drafts, change?: SessionChange): Promise<readonly StoredEvent[]> {
    const appended = this.#queue.then(async () =>
      this.#append(typeof drafts === "function" ? await drafts(this.#state) : drafts, change),
    );
    this.#queue = appended.catch(() => {});
    return appended;
  }

  /** In order with the events around it, but never stored. */
  preview(preview: Preview): void {
    void this.#queue.then(() => this.#deps.feed.publish(this.#redactor.event(preview)));
  }

  /** From now on this value is taken out, too. */
  hide(secret: Secret): void {
    this.#redactor = this.#redactor.with([secret]);
  }

  /** A text as the log would have it. */
  withoutSecrets(text: string): string {
    return this.#redactor.text(text);
  }

  /** A message that waits for the engine, with the secrets in it. After a crash only the redacted one is left. */
  asWritten(eventId: string): MessageContent | undefined {
    return this.#asWritten.get(eventId);
  }

  async #append(drafts: readonly EventDraft[], change?: SessionChange): Promise<readonly StoredEvent[]> {
    if (drafts.length === 0 && change === undefined) return [];
    const { store, sessionId, lease, feed } = this.#deps;
    const finished = drafts.map((draft) => this.#finish(draft));
    const events = finished.map((event) => this.#redacted(event));
    const unredacted = approvalInputs(finished.filter((event, index) => event !== events[index]));
    const batch = {
      after: this.#head,
      events,
      fence: lease.fence,
      unredacted,
      ...(change !== undefined && { change }),
    };
    const stored = await store.append(sessionId, batch);
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

  #redacted(event: SessionEvent): SessionEvent {
    const redacted = this.#redactor.event(event);
    if (event.type === "user.message" && redacted !== event) this.#asWritten.set(event.id, event.content);
    if (event.type === "capstan.input_delivered") for (const id of event.event_ids) this.#asWritten.delete(id);
    return redacted;
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
  readonly redactor: Redactor;
}

/** What an approver must see as it is. */
function approvalInputs(events: readonly SessionEvent[]): NonNullable<AppendBatch["unredacted"]> {
  return Object.fromEntries(
    events.flatMap((event) =>
      event.type === "capstan.approval_requested" ? [[event.approval_id, event.input] as const] : [],
    ),
  );
}

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
