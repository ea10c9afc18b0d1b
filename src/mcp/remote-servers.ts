import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { EngineHost, EngineRequest } from "../core/ports/engine.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import { isRemote, type RemoteMcpServer } from "../core/agent/mcp-server-schema.ts";
import { forwardElicitation, type ServerQuestion } from "./elicitation.ts";
import type { GrantedCall } from "./remote/loopback.ts";

/** Connects the host to a remote server; one connection per process, because instances can't be shared. */
export type RemoteServerFactory = (options: {
  readonly name: string;
  readonly server: RemoteMcpServer;
  readonly elicit: (question: ServerQuestion, signal: AbortSignal) => Promise<ElicitResult>;
}) => Promise<RemoteServer>;

export interface RemoteServer {
  readonly instance: McpServer;
  readonly serveOneCall: (callId: string, grantedCall: () => GrantedCall | undefined) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface RemoteParts {
  readonly host: Pick<EngineHost, "elicit">;
  readonly connectRemoteServer: RemoteServerFactory;
}

interface RemoteServers {
  readonly servers: ReadonlyMap<string, RemoteServer>;
  /** Call this when the process has ended, or did not start. */
  readonly close: () => Promise<void>;
}

/** The agent's remote servers, as servers of this process. Rejects if one can't be used, and closes all connections. */
export async function remoteServers(
  { agent }: Pick<EngineRequest, "agent">,
  { host, connectRemoteServer }: RemoteParts,
): Promise<RemoteServers> {
  const remote = Object.entries(agent.mcp_servers ?? {}).flatMap(([name, server]) =>
    isRemote(server) ? [{ name, server }] : [],
  );
  const opened = await Promise.allSettled(
    remote.map(({ name, server }) =>
      connectRemoteServer({
        name,
        server,
        elicit: (question, signal) => forwardElicitation(host, { serverName: name, ...question }, signal),
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
  const servers = remote.flatMap(({ name }, index): [string, RemoteServer][] => {
    const server = ready[index];
    return server === undefined ? [] : [[name, server]];
  });
  return { servers: new Map(servers), close };
}
