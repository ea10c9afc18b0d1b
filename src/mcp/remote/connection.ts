import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { ProgressCallback } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { ElicitRequestSchema, type ElicitResult, ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";
import { isGarbage, LOST, RemoteTransport } from "./transport.ts";
import type { Trouble } from "./trouble.ts";

/** A server's question to a person, in the protocol's terms. */
export interface RemoteQuestion {
  readonly message: string;
  readonly mode: "form" | "url";
  readonly url?: string;
  readonly requestedSchema?: Record<string, unknown>;
}

export interface ConnectionOptions {
  /** With its headers as they are sent. */
  readonly server: RemoteMcpServer;
  readonly elicit: (question: RemoteQuestion, signal: AbortSignal) => Promise<ElicitResult>;
  /** Called for the server's notifications. */
  readonly onNotification: (method: string) => void;
}

/** The connection failed, not the request. */
export class ConnectionFailure extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, cause: unknown) {
    super(`connection failed: ${trouble.kind}`, { cause });
    this.trouble = trouble;
  }
}

interface RequestOptions {
  /** In milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
  readonly onprogress?: ProgressCallback;
}

interface Live {
  readonly client: Client;
  readonly transport: RemoteTransport;
  requests: number;
  /** It accepts no new requests, and closes after the last answer. */
  isOver: boolean;
}

const TIMED_OUT: number = ErrorCode.RequestTimeout;
/** How long a server may take to answer for the first time. */
export const START_TIMEOUT_MS = 60_000;

/** The host's connection to one remote server. A lost connection is reopened when it is needed. */
export class RemoteConnection {
  readonly #options: ConnectionOptions;
  #live: Promise<Live> | undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async client(): Promise<Client> {
    return (await this.#connection()).client;
  }

  /** Throws a `ConnectionFailure`, or the server's own error. */
  async request<Schema extends z.core.$ZodObject>(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    schema: Schema,
    options: RequestOptions,
  ): Promise<z.output<Schema>> {
    try {
      return await this.#request(request, schema, options);
    } catch (thrown) {
      // The server has lost the session and has not run anything: the protocol requires a new session.
      if (!(thrown instanceof ConnectionFailure && isForgotten(thrown.cause))) throw thrown;
      return this.#request(request, schema, options);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const live = await this.#live?.catch(() => undefined);
    await live?.client.close().catch(() => {});
  }

  async #request<Schema extends z.core.$ZodObject>(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    schema: Schema,
    options: RequestOptions,
  ): Promise<z.output<Schema>> {
    const connected = this.#connection();
    const live = await connected;
    live.requests += 1;
    try {
      return await live.client.request(request, schema, options);
    } catch (thrown) {
      if (options.signal?.aborted === true || isAnswer(thrown)) throw thrown;
      live.isOver = true;
      if (this.#live === connected) this.#live = undefined;
      throw new ConnectionFailure(troubleOf(thrown, live.transport), thrown);
    } finally {
      live.requests -= 1;
      if (live.isOver && live.requests === 0) void live.client.close().catch(() => {});
    }
  }

  #connection(): Promise<Live> {
    const connecting = (this.#live ??= this.#connect());
    connecting.catch(() => {
      if (this.#live === connecting) this.#live = undefined;
    });
    return connecting;
  }

  async #connect(): Promise<Live> {
    const { server, elicit, onNotification } = this.#options;
    const transport = new RemoteTransport(server);
    const client = new Client(
      { name: "capstan", version: "1" },
      { capabilities: { elicitation: { form: {}, url: {} } } },
    );
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      elicit(
        params.mode === "url"
          ? { message: params.message, mode: "url", url: params.url }
          : { message: params.message, mode: "form", requestedSchema: { ...params.requestedSchema } },
        signal,
      ),
    );
    client.fallbackNotificationHandler = async ({ method }) => onNotification(method);
    // One of the two transports waits forever for the address of its first request.
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new ConnectionFailure({ kind: "silence" }, undefined)),
      START_TIMEOUT_MS,
    );
    try {
      await Promise.race([client.connect(transport, { timeout: START_TIMEOUT_MS }), late.promise]);
    } catch (thrown) {
      await client.close().catch(() => {});
      if (thrown instanceof ConnectionFailure || isAnswer(thrown)) throw thrown;
      throw new ConnectionFailure(troubleOf(thrown, transport), thrown);
    } finally {
      clearTimeout(timer);
    }
    if (this.#isClosed) await client.close();
    return { client, transport, requests: 0, isOver: false };
  }
}

/** Whether the server itself answered with an error, so that the connection is fine. */
function isAnswer(thrown: unknown): boolean {
  return thrown instanceof McpError && thrown.data !== LOST && thrown.code !== TIMED_OUT;
}

function troubleOf(thrown: unknown, { trouble }: RemoteTransport): Trouble {
  if (thrown instanceof McpError && thrown.code === TIMED_OUT) return { kind: "silence" };
  if (isGarbage(thrown)) return { kind: "garbage" };
  return trouble ?? { kind: "garbage" };
}

function isForgotten(thrown: unknown): boolean {
  return thrown instanceof StreamableHTTPError && thrown.code === 404;
}
