import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import type { Streams } from "./streams.ts";

/** What a client receives at once: the event's name, its log position if it has one, and its content. */
export interface Frame {
  readonly event: string;
  readonly id?: number;
  readonly data: unknown;
}

export const PING: Frame = { event: "ping", data: { type: "ping" } };

/** The destination of frames: an SSE response or a socket. */
export interface Outlet {
  send(frame: Frame): void;
  /** Whether so much is waiting for the client that nothing more should be sent. */
  readonly isFull: boolean;
  /** Resolves when there is room again. */
  waitForDrain(): Promise<void>;
  /** Sends a heartbeat. */
  beat(): void;
  /** Sends the reason and ends. */
  end(reason: EndReason): void;
  /** Sends the failure and ends. */
  fail(thrown: unknown): void;
  /** Ends without a message, because nothing reads it. */
  cut(): void;
}

/**
 * `over`: there is nothing more to follow; `shutdown`: the server is stopping; `lapsed`: the key or login is no longer
 * valid.
 */
export type EndReason = "over" | "shutdown" | "lapsed";

export type FeedItem = LoggedEvent | Preview;
export type Follow = (after: number, signal: AbortSignal) => AsyncIterable<FeedItem>;
/** Converts an item for a client; undefined to skip it. */
export type Show = (item: FeedItem) => Record<string, unknown> | undefined;

export interface FollowerDeps {
  readonly streams: Streams;
  readonly outlet: Outlet;
  readonly follow: Follow;
  readonly show: Show;
  readonly stillValid: () => Promise<boolean>;
  /** Called when the client is disconnected because it did not read. */
  readonly onCut: () => void;
}

/** Heartbeats alone can fill the buffer of a client that never reads. */
const MAX_FULL_BEATS = 2;

/**
 * One client that follows a session. It takes the next item only when the client has room, so that a slow client slows
 * no one else and little is buffered. A client that reads nothing for too long is disconnected and can resume.
 */
export class Follower {
  readonly #deps: FollowerDeps;
  readonly #gone = new AbortController();
  readonly #lapsed = new AbortController();
  #wasCut = false;
  #isQuiet = true;
  /** Whether an item is waiting for room; its own timeout applies then. */
  #isWaiting = false;
  /** Consecutive heartbeats without room while nothing happened. */
  #fullBeats = 0;

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
  }

  /** Called when the client has disconnected. */
  stop(): void {
    this.#gone.abort();
  }

  /** Disconnects a client that does not read. */
  cut(): void {
    if (!this.#wasCut) this.#deps.onCut();
    this.#wasCut = true;
    this.#gone.abort();
    this.#deps.outlet.cut();
  }

  /** Resolves when nothing more will be sent. Never rejects. */
  async run(after: number): Promise<void> {
    const { streams, outlet, follow } = this.#deps;
    const over = AbortSignal.any([this.#gone.signal, this.#lapsed.signal, streams.closing]);
    streams.noteOpened();
    const heart = setInterval(() => this.#beat(), streams.limits.heartbeatMs).unref();
    try {
      for await (const item of follow(after, over)) {
        if (over.aborted || !(await this.#tell(item))) break;
      }
      if (!this.#gone.signal.aborted) outlet.end(this.#reason());
    } catch (thrown) {
      if (!this.#gone.signal.aborted) outlet.fail(thrown);
    } finally {
      clearInterval(heart);
      streams.noteEnded({ wasCut: this.#wasCut });
    }
  }

  /** Resolves to false if the client was disconnected. */
  async #tell(item: FeedItem): Promise<boolean> {
    const { outlet, show } = this.#deps;
    const data = show(item);
    if (data === undefined) return true;
    const event = typeof data["type"] === "string" ? data["type"] : item.type;
    outlet.send({ event, ...("seq" in item && { id: item.seq }), data });
    this.#isQuiet = false;
    return outlet.isFull ? this.#room() : true;
  }

  async #room(): Promise<boolean> {
    const { streams, outlet } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<"cut" | "over">();
    const timer = setTimeout(() => resolve("cut"), streams.limits.stallMs);
    const leave = (): void => resolve("over");
    const left = [onAbort(this.#gone.signal, leave), onAbort(streams.closing, leave)];
    this.#isWaiting = true;
    try {
      const outcome = await Promise.race([outlet.waitForDrain(), promise]);
      if (outcome !== "cut") return true;
      this.cut();
      return false;
    } finally {
      this.#isWaiting = false;
      clearTimeout(timer);
      for (const takeBack of left) takeBack();
    }
  }

  #beat(): void {
    const { outlet, stillValid } = this.#deps;
    this.#fullBeats = this.#isQuiet && !this.#isWaiting && outlet.isFull ? this.#fullBeats + 1 : 0;
    if (this.#fullBeats >= MAX_FULL_BEATS) return this.cut();
    if (this.#isQuiet && !outlet.isFull) outlet.beat();
    this.#isQuiet = true;
    // If the store cannot answer now, the next heartbeat checks again.
    stillValid().then(
      (holds) => holds || this.#lapsed.abort(),
      () => {},
    );
  }

  #reason(): EndReason {
    if (this.#lapsed.signal.aborted) return "lapsed";
    return this.#deps.streams.closing.aborted ? "shutdown" : "over";
  }
}
