import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isRemote, type RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";

/** MCP servers in responses of the Managed Agents API, which cannot express servers that are programs. */

type Servers = AgentDefinition["mcp_servers"];

function remoteServers(servers: Servers = {}): [name: string, server: RemoteMcpServer][] {
  return Object.entries(servers).flatMap(([name, server]) =>
    isRemote(server) ? [[name, server] as [string, RemoteMcpServer]] : [],
  );
}

export function mcpServersToWireV1(servers: Servers) {
  return remoteServers(servers).map(([name, { url }]) => ({ type: "url" as const, name, url }));
}

export function mcpToolsetsToWireV1(servers: Servers) {
  return remoteServers(servers).map(([name, { tools: { "*": usual, ...others } = {} }]) => ({
    type: "mcp_toolset" as const,
    mcp_server_name: name,
    default_config: switches(usual),
    configs: Object.entries(others).map(([tool, setting]) => ({ name: tool, ...switches(setting) })),
  }));
}

/** A tool without its own entry is decided call by call. */
function switches(setting: "allow" | "ask" | "deny" | undefined) {
  const policies = { allow: "always_allow", ask: "always_ask", deny: "auto" } as const;
  const type = setting === undefined ? ("auto" as const) : policies[setting];
  return { enabled: setting !== "deny", permission_policy: { type } };
}
