import type {
  ElicitationResult,
  McpHttpServerConfig,
  McpSdkServerConfigWithInstance,
} from "@anthropic-ai/claude-agent-sdk";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { EngineHost, EngineRequest, EngineStart } from "../../core/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { isRemote, type RemoteMcpServer } from "../../core/mcp-server-schema.ts";
import { elicit } from "./elicitation.ts";
import type { GrantedCall } from "./granted-call.ts";

/** Connects the host to a server somewhere else; one connection for each process, as instances cannot be shared. */
export type RemoteServerFactory = (options: {
  readonly name: string;
  readonly server: RemoteMcpServer;
  readonly elicit: (
    question: {
      readonly message: string;
      readonly mode: "form" | "url";
      readonly url?: string;
      readonly requestedSchema?: Record<string, unknown>;
    },
    signal: AbortSignal,
  ) => Promise<ElicitationResult>;
}) => Promise<RemoteServer>;

interface RemoteServer {
  readonly instance: McpServer;
  readonly serveOneCall: (callId: string, granted: () => GrantedCall | undefined) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface RemoteParts {
  readonly host: EngineHost;
  /** The call that the host let through. */
  readonly granted: () => GrantedCall | undefined;
  readonly connectRemoteServer: RemoteServerFactory;
}

interface RemoteServers {
  readonly configs: Record<string, McpSdkServerConfigWithInstance | McpHttpServerConfig>;
  /** To be called when the process is gone, or never came to be. */
  readonly close: () => Promise<void>;
}

/** A tool may wait for a person; milliseconds until the longest timer ends. */
const TOOL_TIMEOUT_MS = 2_147_483_647;

/**
 * The agent's servers somewhere else, as servers of this process: the CLI knows their tools and no more of them. Rejects
 * with what is wrong when one cannot be used, and leaves no connection behind.
 */
export async function remoteServers(
  { agent, start }: Pick<EngineRequest, "agent" | "start">,
  { host, granted, connectRemoteServer }: RemoteParts,
): Promise<RemoteServers> {
  const remote = Object.entries(agent.mcp_servers ?? {}).flatMap(([name, server]) =>
    isRemote(server) ? [{ name, server }] : [],
  );
  const opened = await Promise.allSettled(
    remote.map(({ name, server }) =>
      connectRemoteServer({
        name,
        server,
        elicit: (question, signal) => elicit(host, { serverName: name, ...question }, signal),
      }),
    ),
  );
  const ready = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async (): Promise<void> => void (await Promise.all(ready.map((server) => server.close())));
  const failed = opened.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  if (failed.length > 0) {
    await close();
    if (failed.length === 1) throw failed[0];
    throw new CapstanError("engine_failed", failed.map(messageOf).join("\n"), { cause: failed[0] });
  }
  const configs = remote.flatMap(({ name }, index) => {
    const server = ready[index];
    return server === undefined ? [] : [configOf(name, server, { start, granted })];
  });
  return { configs: Object.fromEntries(await Promise.all(configs)), close };
}

/** The CLI runs a call that waited before it knows the servers of this process; one at an address it waits for. */
async function configOf(
  name: string,
  { instance, serveOneCall }: RemoteServer,
  { start, granted }: { readonly start: EngineStart; readonly granted: RemoteParts["granted"] },
): Promise<[string, McpSdkServerConfigWithInstance | McpHttpServerConfig]> {
  if (start.kind !== "call") return [name, { type: "sdk", name, instance, timeout: TOOL_TIMEOUT_MS }];
  return [name, { type: "http", url: await serveOneCall(start.callId, granted), timeout: TOOL_TIMEOUT_MS }];
}
