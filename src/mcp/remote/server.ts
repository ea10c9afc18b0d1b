import type { ProgressCallback } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  CallToolResultSchema,
  type ElicitResult,
  ListToolsRequestSchema,
  ListToolsResultSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";
import { isToolDenied, requirePolicyTools } from "../../core/agent/mcp-tool-policy.ts";
import { Relisting } from "../client/relisting.ts";
import { ConnectionFailure, RemoteConnection, type RemoteQuestion, START_TIMEOUT_MS } from "./connection.ts";
import type { GrantedCall, Loopback } from "./loopback.ts";
import { fittingTools } from "./tools.ts";
import { troubleWords } from "./trouble.ts";

export interface RemoteServerOptions {
  readonly name: string;
  /** With its headers as they are sent. */
  readonly server: RemoteMcpServer;
  /** The server asks a person something while one of its tools runs. */
  readonly elicit: (question: RemoteQuestion, signal: AbortSignal) => Promise<ElicitResult>;
}

/** The longest possible timer: a tool may wait for a person. A silent connection ends anyway. */
const CALL_TIMEOUT_MS = 2_147_483_647;
/** A longer list counts as endless. */
const MOST_PAGES = 1_000;
const LIST_CHANGED = "notifications/tools/list_changed";

/**
 * A server of this process that forwards the requests of an agent's process. Closed with that process, or explicitly.
 */
interface RemoteServer {
  readonly instance: McpServer;
  /** The names of its tools when the connection was opened. */
  readonly tools: readonly string[];
  /** Offers it to a process for one call only, and returns the URL. `instance` can't be used at the same time. */
  readonly serveOneCall: (callId: string, grantedCall: () => GrantedCall | undefined) => Promise<string>;
  readonly close: () => Promise<void>;
}

/**
 * Connects to a remote server. Neither its URL nor the headers leave the host. Rejects with the problem and what to do
 * about it.
 */
export async function connectRemoteServer(options: RemoteServerOptions): Promise<RemoteServer> {
  const { name, server } = options;
  let mcp: McpServer | undefined;
  let names: readonly string[] = [];
  const relisting = new Relisting(async () => mcp?.sendToolListChanged());
  const connection = new RemoteConnection({
    server,
    elicit: options.elicit,
    onNotification: (method) => {
      if (method === LIST_CHANGED) relisting.noteChange();
    },
  });
  try {
    const client = await connection.client();
    const tools = await listTools(connection);
    names = tools.map((tool) => tool.name);
    requirePolicyTools([{ server: name, policy: server.tools, tools: names }]);
    requireFit(options, tools);
    const instructions = client.getInstructions();
    mcp = new McpServer(
      { name, version: client.getServerVersion()?.version ?? "1" },
      { capabilities: { tools: { listChanged: true } }, ...(instructions !== undefined && { instructions }) },
    );
  } catch (thrown) {
    await connection.close();
    throw notConnected(options, thrown);
  }
  // The low-level handlers: the server's messages are forwarded unchanged.
  mcp.server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [...fittingTools(name, await listTools(connection)).fit],
  }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    const onprogress: ProgressCallback = (progress) => {
      if (progressToken === undefined) return;
      const told = { method: "notifications/progress" as const, params: { ...progress, progressToken } };
      void sendNotification(told).catch(() => {});
    };
    try {
      const request = { method: "tools/call", params: { ...params } };
      const limits = { timeout: CALL_TIMEOUT_MS, signal, onprogress };
      return await connection.request(request, CallToolResultSchema, limits);
    } catch (thrown) {
      if (!(thrown instanceof ConnectionFailure)) throw thrown;
      return failedResult(options, thrown);
    }
  });
  const instance = mcp;
  let loopback: Loopback | undefined;
  const close = async (): Promise<void> => {
    await loopback?.close();
    await connection.close();
  };
  return {
    instance,
    tools: names,
    async serveOneCall(callId, grantedCall) {
      const { serveOneCall } = await import("./loopback.ts");
      loopback = await serveOneCall(instance, { server: name, callId, grantedCall });
      return loopback.url;
    },
    close,
  };
}

async function listTools(connection: RemoteConnection): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const listed = await connection.request(request, ListToolsResultSchema, { timeout: START_TIMEOUT_MS });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new ConnectionFailure({ kind: "garbage" }, undefined);
}

/**
 * Omits a tool that the agent may not use anyway; any other unusable tool is an error, because the agent would not work
 * as intended.
 */
function requireFit({ name: server, server: { tools: policy } }: RemoteServerOptions, tools: readonly Tool[]): void {
  const failure = (what: string, data: object): CapstanError =>
    new CapstanError("engine_failed", `The MCP server ${server} ${what}`, { data: { servers: [server], ...data } });
  if (tools.length === 0) throw failure("offers no tools. Fix the server, or remove it from mcp_servers.", {});
  const unfit = fittingTools(server, tools).unfit.filter(({ name }) => !isToolDenied(name, policy));
  if (unfit.length === 0) return;
  const which = unfit.map(({ name, problem }) => `${name} (${problem})`).join("; ");
  throw failure(
    `has tools that cannot be offered to the model: ${which}. Fix the server, or exclude such a tool: mcp_servers.${server}.tools.<name>: deny.`,
    { tools: unfit.map(({ name }) => name) },
  );
}

function notConnected(options: RemoteServerOptions, thrown: unknown): CapstanError {
  if (thrown instanceof CapstanError) return thrown;
  const { what, remedy } =
    thrown instanceof ConnectionFailure
      ? troubleWords(thrown.trouble, options)
      : { what: `it answered with an error: ${messageOf(thrown)}`, remedy: "Check the server's log." };
  return new CapstanError("engine_failed", `The MCP server ${options.name} cannot be used: ${what}. ${remedy}`, {
    data: { servers: [options.name] },
  });
}

/** The message for the model: the session continues, and the next call opens a new connection. */
function failedResult(options: RemoteServerOptions, { trouble }: ConnectionFailure): CallToolResult {
  const { what } = troubleWords(trouble, options);
  const effect =
    trouble.kind === "cut" || trouble.kind === "silence" ? " It is unknown whether the call took effect." : "";
  const text = `The MCP server ${options.name} failed: ${what}.${effect} The next call reconnects.`;
  return { isError: true, content: [{ type: "text", text }] };
}
