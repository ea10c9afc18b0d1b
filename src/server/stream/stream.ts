import type { Context } from "hono";
import { onAbort } from "../../core/text/on-abort.ts";
import type { Env } from "../http/context.ts";
import {
  Follower,
  type EndReason,
  type Follow,
  type FollowerDeps,
  type Frame,
  type Outlet,
  PING,
  type Show,
} from "./follower.ts";
import { ApiFailure, asApiFailure, errorBody } from "../http/failure.ts";
import { Streams } from "./streams.ts";
import { WaitingAnswers } from "../answers/waiting.ts";

const LAST_WORDS: Record<EndReason, string> = {
  over: "there is nothing more to follow",
  shutdown: "the server is shutting down; reconnect with Last-Event-ID",
  lapsed: "the key or login is no longer valid",
};
const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Turns off buffering in proxies.
  "x-accel-buffering": "no",
};
/** In milliseconds: how soon a browser reconnects. */
const COME_BACK_AFTER = 1_000;

/** What to stream. `head` is the position of the log's last event; no client can have seen a later one. */
interface Streamed {
  readonly follow: Follow;
  readonly show: Show;
  readonly head?: number;
}

/** Streams a session as server-sent events, starting after `Last-Event-ID`. */
export function eventStream(c: Context<Env>, { follow, show, head }: Streamed): Response {
  const after = givenPosition("Last-Event-ID", c.req.header("last-event-id"));
  if (head !== undefined) requireWithinLog("Last-Event-ID", after, head);
  // A HEAD request would leave behind a stream that nothing reads.
  if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
  const { describe, waiting, ...around } = surroundings(c);
  const { outgoing } = c.env ?? {};
  const outlet = new SseOutlet({
    ...waiting,
    onGone: () => follower.stop(),
    cut: outgoing === undefined ? undefined : () => void outgoing.destroy(),
    describe,
  });
  const follower = new Follower({ ...around, outlet, follow, show });
  // If the client disconnects before the first byte, nothing reads the body.
  onAbort(c.req.raw.signal, () => follower.stop());
  const forget = waiting.count(() => outlet.waiting);
  void follower.run(after).finally(forget);
  return c.body(outlet.body, 200, HEADERS);
}

/** What a follower and its outlet need from their request. */
interface Surroundings extends Pick<FollowerDeps, "streams" | "stillValid" | "onCut"> {
  readonly waiting: WaitingRoom;
  readonly describe: (thrown: unknown) => Record<string, unknown>;
}

/** How much may wait for one follower. */
interface WaitingRoom {
  /** In bytes: the fixed maximum, and the current one next to the key's other streams. */
  readonly maxWaitingBytes: number;
  readonly room: () => number;
  /** Counts what waits until the returned function is called. */
  readonly count: (bytes: () => number) => () => void;
}

export function surroundings(c: Context<Env>): Surroundings {
  const requestId = c.get("requestId");
  const streams = c.get("streams") ?? new Streams();
  const { maxWaitingBytes } = streams.limits;
  const { all: answers = new WaitingAnswers(), key = "" } = c.get("answers") ?? {};
  return {
    streams,
    stillValid: c.get("stillValid") ?? (async () => true),
    waiting: {
      maxWaitingBytes,
      room: () => Math.min(maxWaitingBytes, answers.shareOf(key)),
      count: (bytes) => answers.add(key, bytes, { isStream: true }),
    },
    onCut: () => {
      const fields = { id: requestId, path: c.req.path, caller: key, bytes: answers.of(key) };
      c.get("log")?.warn(fields, "closed a stream: the client did not read it");
    },
    describe: (thrown) => {
      const failure = asApiFailure(thrown);
      if (failure.status >= 500) c.get("log")?.error({ id: requestId, err: thrown }, "a stream failed");
      return errorBody(failure, requestId);
    },
  };
}

type PositionName = "Last-Event-ID" | "after";

/** The sequence number after which a stream starts; 0 for a new one. */
export function givenPosition(name: PositionName, text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ApiFailure(
    "invalid_request_error",
    `${name} is ${JSON.stringify(text.slice(0, 40))}, but must be the id of an event of this stream: a whole number. Omit it to start at the beginning.`,
  );
}

/**
 * Rejects a position past the end of the log: it belongs to another session, and the stream would skip the next events.
 */
export function requireWithinLog(name: PositionName, after: number, head: number): void {
  if (after > head)
    throw new ApiFailure(
      "invalid_request_error",
      `${name} is ${after}, but the log of this session ends at ${head}. Use the id of an event of this session, or omit it.`,
    );
}

interface SseOptions extends Pick<WaitingRoom, "maxWaitingBytes" | "room"> {
  readonly onGone: () => void;
  /** Closes the connection immediately; absent if the stream has no connection of its own. */
  readonly cut: (() => void) | undefined;
  readonly describe: (thrown: unknown) => Record<string, unknown>;
}

class SseOutlet implements Outlet {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: SseOptions;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #room = Promise.withResolvers<void>();

  constructor(options: SseOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write(`retry: ${COME_BACK_AFTER}\n\n`);
        },
        // Called whenever something was read and there is room.
        pull: () => {
          this.#room.resolve();
          this.#room = Promise.withResolvers();
        },
        cancel: () => {
          this.#controller = undefined;
          options.onGone();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: options.maxWaitingBytes }),
    );
  }

  /** In bytes. */
  get waiting(): number {
    const { maxWaitingBytes } = this.#options;
    return maxWaitingBytes - (this.#controller?.desiredSize ?? maxWaitingBytes);
  }

  get isFull(): boolean {
    return this.waiting >= this.#options.room();
  }

  async waitForDrain(): Promise<void> {
    while (this.isFull) await this.#room.promise;
  }

  send({ event, id, data }: Frame): void {
    const place = id === undefined ? "" : `id: ${id}\n`;
    this.#write(`event: ${event}\n${place}data: ${JSON.stringify(data)}\n\n`);
  }

  beat(): void {
    this.send(PING);
  }

  end(reason: EndReason): void {
    this.#write(`: ${LAST_WORDS[reason]}\n\n`);
    this.#close();
  }

  fail(thrown: unknown): void {
    this.send({ event: "error", data: this.#options.describe(thrown) });
    this.#close();
  }

  cut(): void {
    const controller = this.#controller;
    this.#controller = undefined;
    if (this.#options.cut === undefined) controller?.error(new Error("Closed: the client did not read this stream."));
    else this.#options.cut();
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
