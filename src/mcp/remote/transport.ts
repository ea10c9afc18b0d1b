import { setTimeout as sleep } from "node:timers/promises";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ErrorCode,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";
import { networkCode, type Trouble } from "./trouble.ts";

/** Marks the error of a request that was not answered because the connection was lost. */
export const LOST = { reason: "lost" };

/** How long telling a server about the end may take, in milliseconds. */
const GOODBYE_MS = 1_000;
/** Milliseconds. After the end of a stream, its last data is still being read. */
const READ_GRACE_MS = 1_000;

/**
 * Wraps the MCP SDK's own transport, which waits forever if an answer is cut off. Here every request gets an answer,
 * and callers can find out what was wrong with the connection.
 */
export class RemoteTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #type: RemoteMcpServer["type"];
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  /** Requests without an answer yet. */
  readonly #open = new Set<RequestId>();
  #trouble: Trouble | undefined;
  #closed = false;

  constructor({ type, url, headers }: Pick<RemoteMcpServer, "type" | "url" | "headers">) {
    this.#type = type;
    // Both follow redirects only within the same origin, so that no other host gets the headers.
    const options = { requestInit: { headers }, fetch: this.#fetch };
    this.#inner =
      type === "http"
        ? new StreamableHTTPClientTransport(new URL(url), options)
        : new SSEClientTransport(new URL(url), options);
    Object.assign(this.#inner, {
      onmessage: (message: JSONRPCMessage) => this.#onMessage(message),
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.#onError(error),
    });
  }

  /** The last problem. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) this.#open.add(message.id);
    await this.#inner.send(message);
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#inner instanceof StreamableHTTPClientTransport) {
      // Lets the server drop the session; failures don't matter.
      const goodbye = this.#inner.terminateSession().catch(() => {});
      await Promise.race([goodbye, sleep(GOODBYE_MS, undefined, { ref: false })]);
    }
    await this.#inner.close();
  }

  readonly #fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    try {
      const response = await fetch(url, init);
      if (!response.ok) this.#note(statusTrouble(response, url), init);
      return this.#watchStream(response, init);
    } catch (thrown) {
      this.#note({ kind: "network", code: networkCode(thrown) }, init);
      throw thrown;
    }
  };

  #note(trouble: Trouble, { method }: RequestInit): void {
    // A server need not offer a separate stream.
    const isExtra = this.#type === "http" && method !== "POST";
    if (!isExtra && !this.#closed) this.#trouble = trouble;
  }

  /** Detects that the stream of an answer ends without it. */
  #watchStream(response: Response, { method, body: sent }: RequestInit): Response {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (method !== "POST" || !isStream || response.body === null || typeof sent !== "string") return response;
    const { id } = JSON.parse(sent) as { id?: RequestId };
    if (id === undefined) return response;
    const reader = response.body.getReader();
    // If events have ids, the stream is resumed after the last one.
    let canGoOn = false;
    const onEnd = (): void => {
      if (!canGoOn) setTimeout(() => this.#fail(id, { kind: "cut" }), READ_GRACE_MS).unref();
    };
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            canGoOn ||= /(?:^|\n)id:/.test(Buffer.from(value).toString("latin1"));
            return controller.enqueue(value);
          }
          controller.close();
        } catch (thrown) {
          controller.error(thrown);
        }
        onEnd();
      },
      cancel: (reason) => reader.cancel(reason),
    });
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  }

  #onMessage(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#open.delete(message.id ?? "");
    this.onmessage?.(message);
  }

  #onError(error: Error): void {
    if (isGarbage(error)) this.#failAll({ kind: "garbage" });
    // The one stream for all answers, or the last attempt to resume one.
    else if (this.#type === "sse" || error.message.startsWith("Maximum reconnection attempts"))
      this.#failAll(this.#trouble ?? { kind: "cut" });
    this.onerror?.(error);
  }

  #failAll(trouble: Trouble): void {
    for (const id of this.#open) this.#fail(id, trouble);
  }

  #fail(id: RequestId, trouble: Trouble): void {
    if (this.#closed || !this.#open.delete(id)) return;
    this.#trouble = trouble;
    const error = { code: ErrorCode.ConnectionClosed, message: "The connection was lost.", data: LOST };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }
}

function statusTrouble({ status, headers }: Response, url: string | URL): Trouble {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  const target = location === null ? null : URL.parse(location, String(url));
  if (target === null || target.origin === new URL(url).origin) return { kind: "status", status };
  return { kind: "redirect", to: target.origin + target.pathname };
}

/** Not JSON, or not a message of the protocol. */
export function isGarbage(thrown: unknown): boolean {
  return thrown instanceof SyntaxError || thrown instanceof z.core.$ZodError;
}
