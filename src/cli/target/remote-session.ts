import { setTimeout as sleep } from "node:timers/promises";
import type { CapstanClient, MessageInput, SessionPatch } from "../../client/index.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EventType, LoggedEvent, Preview } from "../../core/events/events.ts";
import { inTurn } from "../../core/session/state.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { type FollowedState, followedState, type WireSessionWithState } from "../../protocol/api/session-state.ts";
import { sessionFromWire } from "../../protocol/api/sessions.ts";
import { Turn } from "../../runtime/turn/turn.ts";
import type { Followed } from "./followed-session.ts";
import { asked, askedFor } from "./remote-failure.ts";

/** How often, and how many times, it is looked whether there is still an answer to act on. The stream tells the rest. */
const LOOK_EVERY_MS = 1_000;
const LOOKS = 10;
const STATUS_EVENTS: readonly EventType[] = ["session.status_running", "session.status_idle"];

/** What was redacted stands in a log, and never comes from a person. */
export function sendable(content: string | MessageContent): MessageInput {
  return typeof content === "string" ? content : content.filter((block) => block.type !== "redacted");
}

/** A session on a server, followed from here. Its state is what the server last said. */
export class RemoteSession implements Followed {
  readonly #client: CapstanClient;
  readonly record: SessionRecord;
  #state: FollowedState;
  #sending: Promise<unknown> = Promise.resolve();
  /** Called when the stream is cut, before each new attempt. */
  onRetry: (() => void) | undefined;
  /** Called when the stream is connected, the first time and after each cut. */
  onConnect: (() => void) | undefined;

  constructor(client: CapstanClient, session: WireSessionWithState) {
    this.#client = client;
    this.record = sessionFromWire(session);
    this.#state = followedState(session.state);
  }

  get id(): string {
    return this.record.id;
  }

  get state(): FollowedState {
    return this.#state;
  }

  send(content: string | MessageContent): Turn {
    return this.#follow(asked(this.#client.sessions.send(this.id, sendable(content))));
  }

  compact(): Turn {
    return this.#follow(asked(this.#client.sessions.compact(this.id)));
  }

  async interrupt(): Promise<void> {
    // What is on its way would start the turn just after.
    await this.#sending;
    this.#state = followedState((await asked(this.#client.sessions.interrupt(this.id))).state);
  }

  async change(change: SessionPatch): Promise<void> {
    this.#state = followedState((await asked(this.#client.sessions.update(this.id, change))).state);
  }

  async *events({ after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<
    LoggedEvent | Preview
  > {
    const onRetry = (): void => this.onRetry?.();
    const onConnect = (): void => this.onConnect?.();
    const items = this.#client.sessions.stream(this.id, {
      after,
      onRetry,
      onConnect,
      ...(signal !== undefined && { signal }),
    });
    for await (const item of askedFor(items)) {
      // Whoever sees that the session became idle must find it so.
      if (item.type.startsWith("session.status_")) await this.#refresh();
      yield item;
    }
  }

  /** The server acts on an answer a moment later; a turn may even be over by the time that anybody looks. */
  async goesOn(): Promise<boolean> {
    const before = JSON.stringify(this.#state.stopReason);
    const leaving = new AbortController();
    const { signal } = leaving;
    const moving = this.#moves(before, signal);
    try {
      for (let look = 0; look < LOOKS; look++) {
        if (await Promise.race([moving, sleep(LOOK_EVERY_MS, false, { signal })])) return true;
        const answered = await asked(this.#client.approvals.list({ session_id: this.id, status: "answered" }));
        // Nothing is left to act on, or other approvals must be answered first.
        if (answered.length === 0) break;
      }
      await this.#refresh();
      return this.#hasMoved(before);
    } finally {
      leaving.abort();
    }
  }

  /** Resolves to true when the session does something other than wait as before; to false when `signal` aborts. */
  async #moves(before: string, signal: AbortSignal): Promise<boolean> {
    const log = this.#client.sessions.events(this.id, { types: STATUS_EVENTS });
    const last = (await asked(Array.fromAsync(log))).at(-1);
    // After the log was read, so that nothing falls between the two.
    await this.#refresh();
    if (this.#hasMoved(before)) return true;
    for await (const { type } of this.events({ after: last?.seq ?? 0, signal }))
      if (type.startsWith("session.status_")) return true;
    return false;
  }

  #hasMoved(before: string): boolean {
    const { status, stopReason } = this.#state;
    return status !== "idle" || !inTurn(this.#state) || JSON.stringify(stopReason) !== before;
  }

  async #refresh(): Promise<void> {
    this.#state = followedState((await asked(this.#client.sessions.get(this.id))).state);
  }

  /** From what was sent until the session is idle. */
  #follow(accepted: Promise<{ readonly after: number }>): Turn {
    // A caller who never looks at the turn must not be punished with an unhandled rejection.
    this.#sending = accepted.catch(() => {});
    const events = (after: number): AsyncIterable<LoggedEvent | Preview> => this.events({ after });
    return new Turn(async function* () {
      for await (const item of events((await accepted).after)) {
        yield item;
        if (item.type === "session.status_idle") return;
      }
    });
  }
}
