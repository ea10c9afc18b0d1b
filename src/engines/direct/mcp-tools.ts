import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Elicitation } from "../../core/session/elicitation.ts";
import type { EngineHost, EngineRequest } from "../../core/ports/engine.ts";
import { messageOf } from "../../core/errors.ts";
import { engineToolName } from "../../core/agent/mcp-server-schema.ts";
import type { ServerClient, ServerClientOptions } from "../../mcp/client/server-client.ts";
import { forwardElicitation } from "../../mcp/elicitation.ts";
import { notStarted, requireTools } from "../../mcp/policy.ts";
import { programServers, type ProgramSettings, requirePrograms } from "../../mcp/programs.ts";
import { remoteServers, type RemoteServerFactory } from "../../mcp/remote-servers.ts";
import { type ProcessUse, ProgramUses } from "../../process/limits.ts";
import { traitsOf } from "../builtin-tools.ts";
import { mcpOutcome } from "./mcp-results.ts";
import { type BuiltinTool, textOutcome, type ToolDirectories } from "./tools/builtin-tool.ts";

export type ServerClientFactory = (options: ServerClientOptions) => Promise<ServerClient>;

export interface McpParts extends ProgramSettings {
  readonly host: Pick<EngineHost, "elicit">;
  readonly connectRemoteServer: RemoteServerFactory;
  readonly connectServer: ServerClientFactory;
  /** Programs that make a server end with the host; they precede its command. See process/containment.ts. */
  readonly containment?: readonly string[] | undefined;
  /** How long a tool may run without any sign of activity, in milliseconds. */
  readonly idleMs?: number;
}

export interface McpTools {
  /** The servers' current tools: a server may add and remove some. */
  readonly tools: readonly BuiltinTool[];
  /** Resource use of the servers that are programs, with everything they started. */
  use(): ProcessUse;
  close(): Promise<void>;
  kill(): void;
}

type Request = Pick<EngineRequest, "agent" | "cwd" | "stateDir" | "sessionId" | "signal" | "serverFiles">;

const NO_SERVERS: McpTools = {
  tools: [],
  use: () => ({ memory_bytes: 0, processes: 0, cpu_seconds: 0 }),
  close: async () => {},
  kill: () => {},
};

/** Same as the Claude CLI's limit for programs. */
const IDLE_MS = 30 * 60_000;

/** Opens the agent's servers. Rejects, and closes them all, if one does not start or lacks a tool. */
export async function openMcpTools(request: Request, parts: McpParts): Promise<McpTools> {
  const { mcp_servers: servers = {} } = request.agent;
  if (Object.keys(servers).length === 0) return NO_SERVERS;
  requirePrograms(request, parts);
  const questions = new Questions(parts.host);
  const remote = await remoteServers(request, { ...parts, host: questions });
  const programs = programServers(request, parts);
  const { containment = [], connectServer, idleMs = IDLE_MS } = parts;
  const connect = (name: string, via: ServerClientOptions["via"]): Promise<ServerClient> =>
    connectServer({
      name,
      via,
      idleMs,
      isAsking: () => questions.areOpen(name),
      elicit: (question, signal) => forwardElicitation(questions, { serverName: name, ...question }, signal),
      signal: request.signal,
    });
  const wanted = [
    ...Object.entries(programs.configs).map(([name, { command, args }]) => {
      const [first = command, ...rest] = [...containment, command, ...args];
      return [name, { command: first, args: rest, cwd: request.cwd }] as const;
    }),
    ...[...remote.servers].map(([name, { instance }]) => [name, instance] as const),
  ];
  const opened = await Promise.allSettled(wanted.map(([name, via]) => connect(name, via)));
  const clients = new Map<string, ServerClient>();
  const failed: [string, string][] = [];
  for (const [index, one] of opened.entries()) {
    const name = wanted[index]?.[0] ?? "";
    if (one.status === "fulfilled") clients.set(name, one.value);
    else failed.push([name, messageOf(one.reason)]);
  }
  const close = async (): Promise<void> => {
    await Promise.all([...clients.values()].map((client) => client.close()));
    programs.close();
    await remote.close();
  };
  const kill = (): void => {
    for (const client of clients.values()) client.kill();
    programs.close();
    void remote.close().catch(() => {});
  };
  try {
    request.signal?.throwIfAborted();
    if (failed.length > 0) throw notStarted(failed, parts.confinement !== undefined);
    requireTools(
      servers,
      [...clients].map(([name, { tools }]) => ({ name, tools })),
    );
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const place: ToolDirectories = request;
  const uses = new ProgramUses();
  return {
    get tools() {
      return [...clients].flatMap(([name, client]) => toolsOf(name, client, place));
    },
    use: () => uses.of([...clients.values()].flatMap(({ pid }) => pid ?? [])),
    close,
    kill,
  };
}

/** The longest tool name that the model API accepts. */
const LONGEST_NAME = 128;

/** Tools that a server adds later may have a name that is too long or already taken. Those are not offered. */
function toolsOf(server: string, client: ServerClient, place: ToolDirectories): BuiltinTool[] {
  const named = new Map<string, Tool>();
  for (const tool of client.tools) {
    const name = engineToolName(server, tool.name);
    if (name.length <= LONGEST_NAME && !named.has(name)) named.set(name, tool);
  }
  return [...named].map(([name, { name: tool, description = "", inputSchema }]) => ({
    name,
    description,
    inputSchema,
    // Don't trust what a server says about its tools: the agent's policy decides.
    traits: traitsOf(name),
    run: async (input, { callId, signal }) => {
      try {
        return mcpOutcome(await client.call({ tool, input, signal }), { server, place, callId });
      } catch (thrown) {
        return textOutcome(messageOf(thrown), true);
      }
    },
  }));
}

/** Tracks which servers wait for a person. */
class Questions implements Pick<EngineHost, "elicit"> {
  readonly #host: Pick<EngineHost, "elicit">;
  readonly #open = new Map<string, number>();

  constructor(host: Pick<EngineHost, "elicit">) {
    this.#host = host;
  }

  areOpen(server: string): boolean {
    return (this.#open.get(server) ?? 0) > 0;
  }

  async elicit(question: Elicitation, signal: AbortSignal): ReturnType<EngineHost["elicit"]> {
    const { server } = question;
    this.#open.set(server, (this.#open.get(server) ?? 0) + 1);
    try {
      return await this.#host.elicit(question, signal);
    } finally {
      this.#open.set(server, (this.#open.get(server) ?? 1) - 1);
    }
  }
}
