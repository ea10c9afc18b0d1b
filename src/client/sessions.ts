import type { z } from "zod";
import type { EventType, LoggedEvent, Preview } from "../core/events/events.ts";
import type { List } from "../protocol/api/common.ts";
import type {
  Accepted,
  ClippedEvent,
  eventQuery,
  ForkInput,
  MessageInput,
  SessionInput,
  SessionPatch,
  WireEventPage,
} from "../protocol/api/session-requests.ts";
import type { WireSessionWithState, WireState } from "../protocol/api/session-state.ts";
import type { sessionQuery, WireSession } from "../protocol/api/sessions.ts";
import { type Http, path } from "./http.ts";
import { overEvents, overSocket } from "./connection.ts";
import { followSession, type StreamOptions } from "./stream.ts";

/** The values of a query before they become text. */
type Written<Schema extends z.ZodType> = Partial<z.output<Schema>>;

export type SessionSearch = Written<typeof sessionQuery>;

export interface EventSearch {
  readonly after?: number;
  readonly upTo?: number | undefined;
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined;
}

/** Sessions of the key's project. */
export class SessionsClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Most recently active first. */
  async list(query: SessionSearch = {}): Promise<WireSession[]> {
    return (await this.#http.json<List<WireSession>>("GET", "/api/sessions", { query })).data;
  }

  get(id: string): Promise<WireSessionWithState> {
    return this.#http.json("GET", path`/api/sessions/${id}`);
  }

  create(input: SessionInput = {}, { signal }: { readonly signal?: AbortSignal } = {}): Promise<WireSessionWithState> {
    return this.#http.json("POST", "/api/sessions", { body: input, signal });
  }

  update(id: string, patch: SessionPatch): Promise<WireSessionWithState> {
    return this.#http.json("PATCH", path`/api/sessions/${id}`, { body: patch });
  }

  fork(id: string, input: ForkInput = {}): Promise<WireSessionWithState> {
    return this.#http.json("POST", path`/api/sessions/${id}/fork`, { body: input });
  }

  /** Makes it read-only. */
  archive(id: string): Promise<WireSessionWithState> {
    return this.#http.json("POST", path`/api/sessions/${id}/archive`);
  }

  /** Erases the session. */
  async delete(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/sessions/${id}`);
  }

  /** The state right after the event at this log position. */
  stateAt(id: string, seq: number): Promise<WireState> {
    return this.#http.json("GET", path`/api/sessions/${id}/state`, { query: { at: seq } });
  }

  /** Returns one complete event of the log. */
  event(id: string, seq: number): Promise<LoggedEvent> {
    return this.#http.json("GET", path`/api/sessions/${id}/events/${String(seq)}`);
  }

  /** Returns one page of the log. */
  page(id: string, query: Written<typeof eventQuery> = {}): Promise<WireEventPage> {
    return this.#http.json("GET", path`/api/sessions/${id}/events`, { query });
  }

  /** Yields the events saved so far, page by page. */
  async *events(id: string, { after = 0, upTo, types }: EventSearch = {}): AsyncGenerator<LoggedEvent> {
    for (let next: number | null = after; next !== null;) {
      const { data, next_after }: WireEventPage = await this.page(id, {
        after: next,
        up_to: upTo,
        limit: 1_000,
        types: types?.join(","),
      });
      yield* data;
      next = next_after;
    }
  }

  /** Follows the session and resumes if the connection is cut off. Ends when `signal` aborts. */
  stream(id: string, options: StreamOptions = {}): AsyncGenerator<ClippedEvent | Preview> {
    const connect = options.over === "socket" ? overSocket : overEvents;
    if (options.over === "socket" && this.#http.hasKey)
      throw new Error("Sockets need a login's cookie. With an API key, follow the session over events.");
    return followSession(connect(this.#http, path`/api/sessions/${id}`), options);
  }

  /** Starts a turn, or adds to the current one. Its events are those after `after`. */
  send(id: string, content: MessageInput): Promise<Accepted> {
    return this.#http.json("POST", path`/api/sessions/${id}/messages`, { body: { content } });
  }

  /** Resolves when the session is idle. */
  interrupt(id: string): Promise<WireSessionWithState> {
    return this.#http.json("POST", path`/api/sessions/${id}/interrupt`);
  }

  compact(id: string): Promise<Accepted> {
    return this.#http.json("POST", path`/api/sessions/${id}/compact`);
  }

  /** Returns the saved output of a call. */
  async output(id: string, call: string): Promise<Uint8Array> {
    const response = await this.#http.send("GET", path`/api/sessions/${id}/calls/${call}/output`);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The log as JSON lines. */
  async export(id: string): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#http.send("GET", path`/api/sessions/${id}/export`);
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
  }
}
