import { setTimeout as sleep } from "node:timers/promises";
import type {
  McpHttpServerConfig,
  McpSdkServerConfigWithInstance,
  McpServerConfig,
  McpServerStatus,
  Options,
  Query,
} from "@anthropic-ai/claude-agent-sdk";
import type { EngineRequest, EngineStart } from "../../core/ports/engine.ts";
import type { McpServer } from "../../core/agent/mcp-server-schema.ts";
import type { GrantedCall } from "./granted-call.ts";
import { notStarted, requireTools } from "../../mcp/policy.ts";
import { type ProgramSettings, programServers, requirePrograms } from "../../mcp/programs.ts";
import { type RemoteParts, type RemoteServer, remoteServers } from "../../mcp/remote-servers.ts";

/** The MCP servers of one agent process. */
export interface ProcessServers {
  readonly configs: Readonly<Record<string, McpServerConfig>>;
  readonly close: () => Promise<void>;
}

interface Granted {
  /** The call that the host allowed. */
  readonly grantedCall: () => GrantedCall | undefined;
}

/** The longest possible timer, in milliseconds: a tool may wait for a person. */
const TOOL_TIMEOUT_MS = 2_147_483_647;

/** Prepares the agent's own servers: programs that the CLI starts, and connections that the host opens. */
export async function openServers(
  request: Pick<EngineRequest, "agent" | "stateDir" | "start" | "serverFiles">,
  parts: ProgramSettings & RemoteParts & Granted,
): Promise<ProcessServers> {
  requirePrograms(request, parts);
  const remote = await remoteServers(request, parts);
  const programs = programServers(request, parts);
  const close = async (): Promise<void> => {
    programs.close();
    await remote.close();
  };
  const remoteConfigs = [...remote.servers].map(([name, server]) =>
    configOf(name, server, { start: request.start, granted: parts.grantedCall }),
  );
  return { configs: { ...programs.configs, ...Object.fromEntries(await Promise.all(remoteConfigs)) }, close };
}

/**
 * The CLI runs a waiting call before it has connected to this process's servers, but it does wait for a server with a
 * URL.
 */
async function configOf(
  name: string,
  { instance, serveOneCall }: RemoteServer,
  { start, granted }: { readonly start: EngineStart; readonly granted: Granted["grantedCall"] },
): Promise<[string, McpSdkServerConfigWithInstance | McpHttpServerConfig]> {
  if (start.kind !== "call") return [name, { type: "sdk", name, instance, timeout: TOOL_TIMEOUT_MS }];
  return [name, { type: "http", url: await serveOneCall(start.callId, granted), timeout: TOOL_TIMEOUT_MS }];
}

/** The servers end with their process. */
export function withServers(options: Options, { configs, close }: ProcessServers): Options {
  const { spawnClaudeCodeProcess: spawn, mcpServers: others, env } = options;
  return {
    ...options,
    mcpServers: { ...others, ...configs },
    // A tool may wait for a person, as it can when the process runs the server itself.
    ...(Object.values(configs).some(({ type }) => type === "http") && {
      env: { ...env, CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: "0" },
    }),
    ...(spawn !== undefined && {
      spawnClaudeCodeProcess: (spawnOptions) => {
        const child = spawn(spawnOptions);
        child.once("exit", () => void close());
        return child;
      },
    }),
  };
}

/** How long a server may take to answer for the first time. Downloading a package takes a while. */
const START_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Rejects when a server does not start: without its tools, an agent would behave differently than intended. */
export async function requireServers(
  query: Pick<Query, "mcpServerStatus">,
  { servers, confined }: { readonly servers: Readonly<Record<string, McpServer>>; readonly confined: boolean },
): Promise<void> {
  const names = Object.keys(servers);
  if (names.length === 0) return;
  const since = performance.now();
  for (;;) {
    const statuses = await query.mcpServerStatus();
    const missing = names.filter((name) => statusOf(statuses, name)?.status !== "connected");
    if (missing.length === 0) {
      requireTools(servers, statuses);
      return;
    }
    const waits = missing.every((name) => (statusOf(statuses, name)?.status ?? "pending") === "pending");
    if (!waits || performance.now() - since > START_TIMEOUT_MS)
      throw notStarted(
        missing.map((name) => [name, statusOf(statuses, name)?.error ?? "no answer"]),
        confined,
      );
    await sleep(LOOK_EVERY_MS);
  }
}

function statusOf(statuses: readonly McpServerStatus[], wanted: string): McpServerStatus | undefined {
  return statuses.find(({ name }) => name === wanted);
}
