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
import { awaitServer, iterateServer } from "./remote-failure.ts";

/** How often to check whether the server still has an answer to act on. Everything else comes through the stream. */
const CHECK_EVERY_MS = 1_000;
const MAX_CHECKS = 10;
const STATUS_EVENTS: readonly EventType[] = ["session.status_running", "session.status_idle"];

/** Removes redacted blocks, which occur only in logs. */
export function sendable(content: string | MessageContent): MessageInput {
  return typeof content === "string" ? content : content.filter((block) => block.type !== "redacted");
}

/** A session on a server. Its state is the one that the server last reported. */
export class RemoteSession implements Followed {
  readonly #client: CapstanClient;
  readonly record: SessionRecord;
  #state: FollowedState;
  #sending: Promise<unknown> = Promise.resolve();
  /** Called when the stream breaks, before each retry. */
  onRetry: (() => void) | undefined;
  /** Called when the stream connects, the first time and after each break. */
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
    return this.#follow(awaitServer(this.#client.sessions.send(this.id, sendable(content))));
  }

  compact(): Turn {
    return this.#follow(awaitServer(this.#client.sessions.compact(this.id)));
  }

  async interrupt(): Promise<void> {
    // A message still being sent would start the turn right after.
    await this.#sending;
    this.#state = followedState((await awaitServer(this.#client.sessions.interrupt(this.id))).state);
  }

  async change(change: SessionPatch): Promise<void> {
    this.#state = followedState((await awaitServer(this.#client.sessions.update(this.id, change))).state);
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
    for await (const item of iterateServer(items)) {
      // The state must be current when the caller sees the event.
      if (item.type.startsWith("session.status_")) await this.#refresh();
      yield item;
    }
  }

  /** The server acts on an answer with a delay; the turn may even be over by the first check. */
  async continues(): Promise<boolean> {
    const before = JSON.stringify(this.#state.stopReason);
    const leaving = new AbortController();
    const { signal } = leaving;
    const moving = this.#moves(before, signal);
    try {
      for (let checks = 0; checks < MAX_CHECKS; checks++) {
        if (await Promise.race([moving, sleep(CHECK_EVERY_MS, false, { signal })])) return true;
        const answered = await awaitServer(this.#client.approvals.list({ session_id: this.id, status: "answered" }));
        // Nothing is left to act on, or other approvals must be answered first.
        if (answered.length === 0) break;
      }
      await this.#refresh();
      return this.#hasMoved(before);
    } finally {
      leaving.abort();
    }
  }

  /** Resolves to true when the session no longer waits as before, to false when `signal` aborts. */
  async #moves(before: string, signal: AbortSignal): Promise<boolean> {
    const log = this.#client.sessions.events(this.id, { types: STATUS_EVENTS });
    const last = (await awaitServer(Array.fromAsync(log))).at(-1);
    // Refreshing after reading the log leaves no gap between the two.
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
    this.#state = followedState((await awaitServer(this.#client.sessions.get(this.id))).state);
  }

  /** The turn from the sent message until the session is idle. */
  #follow(accepted: Promise<{ readonly after: number }>): Turn {
    // Avoids an unhandled rejection if the caller never awaits the turn.
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
