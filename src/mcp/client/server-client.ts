import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
  McpError,
  type Tool,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../../core/errors.ts";
import type { ServerQuestion } from "../elicitation.ts";
import { START_TIMEOUT_MS } from "../remote/connection.ts";
import { isGarbage } from "../remote/transport.ts";
import { type ProgramStart, ProgramTransport } from "./program-transport.ts";
import { Relisting } from "./relisting.ts";
import { Silence } from "./silence.ts";

export interface ServerClientOptions {
  readonly name: string;
  /** A program to start, or a server of this process. */
  readonly via: ProgramStart | McpServer;
  readonly elicit: (question: ServerQuestion, signal: AbortSignal) => Promise<ElicitResult>;
  /** The server is waiting for a person, so its silence does not count. */
  readonly isAsking: () => boolean;
  /** How long a tool may run without any sign of activity, in milliseconds. */
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The host's own client of a server. A program that has died is restarted for the next call. */
export interface ServerClient {
  /** The server's current tools. */
  readonly tools: readonly Tool[];
  /** The program's root process, while it runs. */
  readonly pid: number | undefined;
  /** Rejects if there is no result: the server has ended, was silent for too long, or answered with an error. */
  call(call: ServerCall): Promise<CallToolResult>;
  close(): Promise<void>;
  /** Kills a program at once, with everything it started. */
  kill(): void;
}

export interface ServerCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** The longest possible timer: silence is measured here, not by the protocol's client. */
const NO_TIMEOUT_MS = 2_147_483_647;
/** A longer list counts as endless. */
const MOST_PAGES = 1_000;
const MOST_TOOLS = 10_000;
const CLOSED: number = ErrorCode.ConnectionClosed;
const TIMED_OUT: number = ErrorCode.RequestTimeout;

interface Live {
  readonly client: Client;
  readonly transport: Transport;
}

export async function connectServer(options: ServerClientOptions): Promise<ServerClient> {
  const server = new ConnectedServer(options);
  try {
    await server.start();
    return server;
  } catch (thrown) {
    await server.close();
    throw thrown;
  }
}

class ConnectedServer implements ServerClient {
  readonly #options: ServerClientOptions;
  #live: Promise<Live> | undefined;
  #program: ProgramTransport | undefined;
  #tools: readonly Tool[] = [];
  #isClosed = false;

  constructor(options: ServerClientOptions) {
    this.#options = options;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get pid(): number | undefined {
    return this.#program?.pid;
  }

  async start(): Promise<void> {
    await this.#connection();
  }

  async call({ tool, input, signal }: ServerCall): Promise<CallToolResult> {
    const { name, idleMs } = this.#options;
    const live = await this.#connection().catch((thrown: unknown) => {
      throw new Error(`The MCP server ${name} did not restart: ${messageOf(thrown)}.`, { cause: thrown });
    });
    using silence = new Silence(idleMs, this.#options.isAsking);
    try {
      return await live.client.request(
        { method: "tools/call", params: { name: tool, arguments: { ...input } } },
        CallToolResultSchema,
        {
          timeout: NO_TIMEOUT_MS,
          signal: AbortSignal.any([signal, silence.signal]),
          onprogress: () => silence.restart(),
        },
      );
    } catch (thrown) {
      if (signal.aborted) throw new Error(`The call of the MCP server ${name} was canceled.`, { cause: thrown });
      if (silence.signal.aborted) {
        this.#forget(live);
        throw new Error(
          `The MCP server ${name} failed: it was silent for ${Math.round(idleMs / 1_000)} seconds. It is unknown whether the call took effect.`,
          { cause: thrown },
        );
      }
      if (isGarbage(thrown))
        throw new Error(`The MCP server ${name} failed: its answer is not MCP.`, { cause: thrown });
      if (!isLost(thrown)) throw thrown;
      this.#forget(live);
      throw new Error(
        `The MCP server ${name} failed: ${troubleOf(live)}. It is unknown whether the call took effect. The next call restarts it.`,
        { cause: thrown },
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const live = await this.#live?.catch(() => undefined);
    await live?.client.close().catch(() => {});
  }

  kill(): void {
    this.#isClosed = true;
    this.#program?.kill();
  }

  #forget(live: Live): void {
    this.#live = undefined;
    void live.client.close().catch(() => {});
  }

  #connection(): Promise<Live> {
    if (this.#isClosed) return Promise.reject(new Error("the session has ended"));
    const connecting = (this.#live ??= this.#connect());
    connecting.catch(() => {
      if (this.#live === connecting) this.#live = undefined;
    });
    return connecting;
  }

  async #connect(): Promise<Live> {
    const { via, elicit, signal } = this.#options;
    const client = new Client(
      { name: "capstan", version: "1" },
      { capabilities: { elicitation: { form: {}, url: {} } } },
    );
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal: asked }) =>
      elicit(
        params.mode === "url"
          ? { message: params.message, mode: "url", url: params.url }
          : { message: params.message, mode: "form", requestedSchema: { ...params.requestedSchema } },
        asked,
      ),
    );
    const relisting = new Relisting(async () => {
      // A server that can't list its tools now keeps the previous list.
      if (!this.#isClosed) this.#tools = await listTools(client).catch(() => this.#tools);
    });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => relisting.noteChange());
    const transport = await transportTo(via);
    if (transport instanceof ProgramTransport) this.#program = transport;
    try {
      await client.connect(transport, { timeout: START_TIMEOUT_MS, ...(signal && { signal }) });
      this.#tools = await listTools(client);
      return { client, transport };
    } catch (thrown) {
      await client.close().catch(() => {});
      throw isLost(thrown) ? new Error(troubleOf({ client, transport }), { cause: thrown }) : thrown;
    }
  }
}

async function transportTo(via: ServerClientOptions["via"]): Promise<Transport> {
  if ("command" in via) return new ProgramTransport(via);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await via.connect(theirs);
  return ours;
}

/** A list with an invalid entry counts as empty, as on the other engine. */
async function listTools(client: Client): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  try {
    for (let page = 0; page < MOST_PAGES && tools.length <= MOST_TOOLS; page++) {
      const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: START_TIMEOUT_MS });
      tools.push(...listed.tools);
      cursor = listed.nextCursor;
      if (cursor === undefined && tools.length <= MOST_TOOLS) return tools;
    }
    return [];
  } catch (thrown) {
    if (isLost(thrown)) throw thrown;
    return [];
  }
}

function isLost(thrown: unknown): boolean {
  return thrown instanceof McpError && (thrown.code === CLOSED || thrown.code === TIMED_OUT);
}

function troubleOf({ transport }: Live): string {
  return (transport instanceof ProgramTransport ? transport.trouble : undefined) ?? "no answer";
}
