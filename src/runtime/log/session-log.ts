import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EventDraft, Preview, SessionEvent, StoredEvent } from "../../core/events/events.ts";
import type { Redactor, Secret } from "../../core/redaction/redaction.ts";
import { reduce, type SessionState } from "../../core/session/state.ts";
import type { AppendBatch, EventRange, Lease, Store } from "../../core/ports/store.ts";
import { type Feed, toLoggedEvent } from "./feed.ts";
import { loadState } from "./stored-state.ts";

/** A snapshot every so many events makes opening a session independent of the length of its log. */
const SNAPSHOT_EVERY = 500;

type Made = readonly EventDraft[] | Promise<readonly EventDraft[]>;
type Drafts = readonly EventDraft[] | ((state: SessionState) => Made);
type SoonDrafts = readonly EventDraft[] | ((state: SessionState) => readonly EventDraft[]);
export type KnownEvent = Pick<StoredEvent, "seq" | "event">;
/** What is stored in the same transaction as the events. */
type Beside = Pick<AppendBatch, "change" | "claim">;

interface AppendOptions extends Beside {
  /**
   * Resolve when a crash of this process can no longer lose it, before it is on disk. For events that nobody outside acts
   * on: nothing is published before it is on disk.
   */
  readonly isEarly?: boolean;
}

/** Something that waits for the next write: an event, with its secrets and without, or a preview that follows one. */
type Waiting =
  | { readonly kind: "event"; readonly finished: SessionEvent; readonly event: SessionEvent }
  | { readonly kind: "preview"; readonly preview: Preview };

/**
 * The one writer of a session's log: removes secrets, persists, then publishes. Nobody sees what is not stored. Facts
 * whose author need not wait for the disk are written together with whatever is appended next.
 */
export class SessionLog {
  readonly #deps: LogDeps;
  /** As stored. */
  #state: SessionState;
  #head: number;
  /** The same with the events that wait. */
  #ahead: SessionState;
  #waiting: Waiting[] = [];
  #isFlushDue = false;
  /** Resolves when everything committed is on disk and published. */
  #telling: Promise<void> = Promise.resolve();
  #untold = 0;
  /** Why events that waited could not be stored; the next write rejects with it. */
  #lost: { readonly reason: unknown } | undefined;
  #snapshotAt: number;
  #redactor: Redactor;
  /** Redacted messages that the engine has not taken yet: it gets what the user really wrote. */
  readonly #asWritten = new Map<string, MessageContent>();
  readonly #watchers: ((event: SessionEvent) => void)[] = [];
  /** Appends run one after another: each needs the sequence number of the one before. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(deps: LogDeps, at: { state: SessionState; head: number; snapshotAt: number }) {
    this.#deps = deps;
    this.#state = at.state;
    this.#ahead = at.state;
    this.#head = at.head;
    this.#snapshotAt = at.snapshotAt;
    this.#redactor = deps.redactor;
  }

  static async open(deps: LogDeps): Promise<SessionLog> {
    const { state, seq, snapshotAt } = await loadState(deps.store, deps.sessionId);
    return new SessionLog(deps, { state, head: seq, snapshotAt });
  }

  /** Includes the events that are about to be stored. */
  get state(): SessionState {
    return this.#ahead;
  }

  /** The fence of the lease that lets this log write. */
  get fence(): number {
    return this.#deps.lease.fence;
  }

  /** The sequence number of the last event, stored or about to be. */
  get head(): number {
    return this.#head + eventsIn(this.#waiting).length;
  }

  /**
   * Resolves when everything up to here is on disk and published. Drafts given as a function see a state that no other
   * append can change before they are stored.
   */
  async append(drafts: Drafts, { isEarly = false, ...beside }: AppendOptions = {}): Promise<readonly StoredEvent[]> {
    const appended = this.#queue.then(async () => {
      this.#requireNothingLost();
      const made = typeof drafts === "function" ? await this.#resolveDrafts(drafts(this.#ahead)) : drafts;
      return this.#store(made, beside);
    });
    this.#queue = appended.catch(() => {});
    const stored = await appended;
    if (!isEarly) await this.waitUntilSynced();
    return stored;
  }

  /** Resolves when everything that was appended is on disk and published. */
  async waitUntilSynced(): Promise<void> {
    await this.#telling;
    this.#requireNothingLost();
  }

  /**
   * Resolves when the events are in `state` and have their sequence numbers. They are stored with the next append, or
   * before the event loop's next round. Until then they are not published. If they cannot be stored, the next append
   * rejects.
   */
  appendSoon(drafts: SoonDrafts): Promise<void> {
    const taken = this.#queue.then(() => this.#keep(drafts));
    this.#queue = taken.catch(() => {});
    return taken;
  }

  /** The events after `after`, including those that are about to be stored. */
  async events({ after = 0 }: Pick<EventRange, "after"> = {}): Promise<readonly KnownEvent[]> {
    const { store, sessionId } = this.#deps;
    const waiting = eventsIn(this.#waiting).map(({ event }, index) => ({ event, seq: this.#head + 1 + index }));
    const stored = await store.events(sessionId, { after });
    const last = stored.at(-1)?.seq ?? after;
    return [...stored, ...waiting.filter(({ seq }) => seq > last)];
  }

  /** Published in order with the events around it, but never stored. */
  preview(preview: Preview): void {
    void this.#queue.then(() => this.#take(preview));
  }

  #keep(drafts: SoonDrafts): void {
    this.#requireNothingLost();
    for (const draft of typeof drafts === "function" ? drafts(this.#ahead) : drafts) {
      const { finished, event } = this.#finish(draft);
      this.#ahead = reduce(this.#ahead, event, this.head + 1);
      this.#waiting.push({ kind: "event", finished, event });
    }
    if (this.#waiting.length > 0) this.#flushSoon();
  }

  #take(preview: Preview): void {
    if (this.#waiting.length > 0) this.#waiting.push({ kind: "preview", preview });
    else this.#tell([{ kind: "preview", preview }], []);
  }

  /** Calls the watcher with each event as soon as it is stored, and before anything else can be. It must not throw. */
  watch(watcher: (event: SessionEvent) => void): void {
    this.#watchers.push(watcher);
  }

  /** From now on this value is redacted, too. */
  hide(secret: Secret): void {
    this.#redactor = this.#redactor.with([secret]);
  }

  /** A text as the log would store it. */
  withoutSecrets(text: string): string {
    return this.#redactor.text(text);
  }

  /** A message that waits for the engine, with its secrets. After a crash only the redacted one is left. */
  asWritten(eventId: string): MessageContent | undefined {
    return this.#asWritten.get(eventId);
  }

  #requireNothingLost(): void {
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost !== undefined) throw lost.reason;
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.append([]).catch((thrown: unknown) => {
        this.#lost ??= { reason: thrown };
      });
    });
  }

  /** Slow drafts do not delay the events that wait. */
  async #resolveDrafts(drafts: Made): Promise<readonly EventDraft[]> {
    if (!(drafts instanceof Promise) || this.#waiting.length === 0) return drafts;
    // If the write fails, nobody uses the drafts any more.
    drafts.catch(() => {});
    const isSlow = await Promise.race([drafts.then(() => false), nextTick(true)]);
    if (isSlow) await this.#store([], {});
    return drafts;
  }

  /** Stores the events that wait and the drafts in one transaction. */
  async #store(drafts: readonly EventDraft[], beside: Beside): Promise<readonly StoredEvent[]> {
    const { store, sessionId, lease } = this.#deps;
    const added = drafts.map((draft) => ({ kind: "event" as const, ...this.#finish(draft) }));
    const items: readonly Waiting[] = [...this.#waiting, ...added];
    this.#waiting = [];
    const events = eventsIn(items);
    if (events.length === 0 && beside.change === undefined) return [];
    const batch = {
      after: this.#head,
      events: events.map(({ event }) => event),
      fence: lease.fence,
      isEarly: true,
      unredacted: approvalInputs(events.flatMap(({ finished, event }) => (finished === event ? [] : [finished]))),
      ...beside,
    };
    let stored: readonly StoredEvent[];
    try {
      stored = await store.append(sessionId, batch);
    } catch (thrown) {
      this.#ahead = this.#state;
      throw thrown;
    }
    for (const { event, seq } of stored) this.#state = reduce(this.#state, event, seq);
    this.#ahead = this.#state;
    this.#head += stored.length;
    this.#tell(items, stored);
    for (const { event } of stored) for (const watcher of this.#watchers) watcher(event);
    if (this.#head - this.#snapshotAt >= SNAPSHOT_EVERY) {
      this.#snapshotAt = this.#head;
      // The events are stored; if the snapshot fails, the next opening is only slower.
      await store.saveSnapshot(sessionId, { seq: this.#head, state: this.#state }).catch(() => {});
    }
    return stored.slice(stored.length - added.length);
  }

  /** Publishes in order, once it is on disk. */
  #tell(items: readonly Waiting[], stored: readonly StoredEvent[]): void {
    if (stored.length === 0 && this.#untold === 0) return this.#publish(items, stored);
    this.#untold += 1;
    this.#telling = this.#telling
      .then(() => (stored.length === 0 ? undefined : this.#deps.store.sync()))
      .then(
        () => this.#publish(items, stored),
        (thrown: unknown) => {
          this.#lost ??= { reason: thrown };
        },
      )
      .finally(() => (this.#untold -= 1));
  }

  #publish(items: readonly Waiting[], stored: readonly StoredEvent[]): void {
    const { feed } = this.#deps;
    let at = 0;
    for (const item of items) {
      const event = item.kind === "event" ? stored[at++] : undefined;
      if (item.kind === "preview") feed.publish(this.#redactor.event(item.preview));
      else if (event !== undefined) feed.publish(toLoggedEvent(event));
    }
  }

  #redact(event: SessionEvent): SessionEvent {
    const redacted = this.#redactor.event(event);
    if (event.type === "user.message" && redacted !== event) this.#asWritten.set(event.id, event.content);
    if (event.type === "capstan.input_delivered") for (const id of event.event_ids) this.#asWritten.delete(id);
    return redacted;
  }

  #finish(draft: EventDraft): { readonly finished: SessionEvent; readonly event: SessionEvent } {
    const { ids, clock } = this.#deps;
    // A message is processed when the engine takes it, which is a fact of its own.
    const processedAt = draft.type === "user.message" ? null : new Date(clock.now()).toISOString();
    const finished = { ...draft, id: draft.id ?? ids.next("sevt"), processed_at: processedAt } as SessionEvent;
    return { finished, event: this.#redact(finished) };
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

function eventsIn(items: readonly Waiting[]): Extract<Waiting, { kind: "event" }>[] {
  return items.filter((item) => item.kind === "event");
}

/** The inputs that an approver must see unredacted. */
function approvalInputs(events: readonly SessionEvent[]): NonNullable<AppendBatch["unredacted"]> {
  return Object.fromEntries(
    events.flatMap((event) =>
      event.type === "capstan.approval_requested" ? [[event.approval_id, event.input] as const] : [],
    ),
  );
}
