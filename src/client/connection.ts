import type { Preview } from "../core/events/events.ts";
import type { ClippedEvent } from "../protocol/api/session-requests.ts";
import { framesOf } from "../protocol/sse.ts";
import { CapstanApiError, refusalOf } from "./error.ts";
import type { Http } from "./http.ts";

interface Asked {
  readonly after: number;
  readonly clip: number | undefined;
  /** Closes the connection. */
  readonly signal: AbortSignal;
  /** Called when the server has accepted: from now on no event is missed. */
  readonly onOpen: () => void;
  /** Called whenever data arrives, including heartbeats. */
  readonly onSign: () => void;
}

/** Yields what arrives over one connection, until it ends or is cut off. */
export type Connect = (asked: Asked) => AsyncGenerator<ClippedEvent | Preview>;

interface Frame {
  readonly event: string;
  readonly data: unknown;
}

/** The status of a plain request to a socket's address if nothing else is wrong. */
const UPGRADE_REQUIRED = 426;

export function overEvents(http: Http, session: string): Connect {
  return async function* ({ after, clip, signal, onOpen, onSign }) {
    const { body, headers, status } = await http.send("GET", `${session}/stream`, {
      query: { clip },
      signal,
      headers: { accept: "text/event-stream", ...(after > 0 && { "last-event-id": String(after) }) },
    });
    if (body === null) throw refusalOf(undefined, { status, headers });
    onOpen();
    for await (const { event, data } of framesOf(body, { onBytes: onSign }))
      yield* itemOf({ event, data: JSON.parse(data) });
  };
}

/** The same over a WebSocket. Needs a login's cookie: a key would have to be in the URL, where logs show it. */
export function overSocket(http: Http, session: string): Connect {
  return async function* ({ after, clip, signal, onOpen, onSign }) {
    signal.throwIfAborted();
    const query = { after, clip };
    const socket = new WebSocket(http.address(`${session}/socket`, query).replace(/^http/, "ws"));
    const arrived: string[] = [];
    let isOpen = false;
    let news = Promise.withResolvers<void>();
    socket.addEventListener("open", () => {
      isOpen = true;
      onOpen();
    });
    socket.addEventListener("message", ({ data }) => {
      onSign();
      arrived.push(String(data));
      news.resolve();
    });
    const close = (): void => {
      socket.close();
      news.resolve();
    };
    socket.addEventListener("close", close);
    // A server that has gone silent does not confirm the close either.
    signal.addEventListener("abort", close, { once: true });
    try {
      while (socket.readyState < WebSocket.CLOSING) {
        await news.promise;
        news = Promise.withResolvers();
        for (let text = arrived.shift(); text !== undefined; text = arrived.shift())
          yield* itemOf(JSON.parse(text) as Frame);
      }
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
    if (isOpen || signal.aborted) return;
    // Browsers do not report why a server refused a socket, so send a plain request to find out.
    await http.json("GET", `${session}/socket`, { query, signal }).catch((refusal: CapstanApiError) => {
      if (refusal.status !== UPGRADE_REQUIRED) throw refusal;
    });
    throw streamCutError(
      "The server answers, but the WebSocket could not be opened. If there is a proxy, make it forward WebSockets with their Host and Origin headers.",
    );
  };
}

function* itemOf({ event, data }: Frame): Generator<ClippedEvent | Preview> {
  if (event === "ping") return;
  if (event === "error") throw refusalOf(data, { status: 500, headers: new Headers() });
  yield data as ClippedEvent | Preview;
}

export function streamCutError(why: string): CapstanApiError {
  return new CapstanApiError(`The session's stream was cut off: ${why}`, { status: 0, type: "connection_error" });
}
