import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { remoteMcp } from "./mcp-remote.ts";

export interface EngineOpenings extends AsyncDisposable {
  /** For the agent whose sessions are watched. */
  readonly servers: NonNullable<AgentInput["mcp_servers"]>;
  /** How often an engine has connected so far, which it does when it opens a session: in a process or in the host. */
  readonly count: () => number;
}

export async function engineOpenings(): Promise<EngineOpenings> {
  let opened = 0;
  const remote = await remoteMcp("http", () => {
    opened += 1;
    const server = new McpServer({ name: "door", version: "1" });
    server.registerTool("knock", { description: "Knocks" }, () => ({ content: [] }));
    return server;
  });
  return {
    servers: { door: remote.server },
    count: () => opened,
    [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
  };
}
