import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";

/** The test's own MCP server, and what was done with it. */
export interface Office {
  readonly servers: NonNullable<AgentInput["mcp_servers"]>;
  /** What the server was asked to do, and did. */
  readonly listDone: () => string[];
}

const SCRIPT = fileURLToPath(new URL("mcp-server.ts", import.meta.url));

/** `home` is a directory outside the agent's workspace. */
export function office(home: string, env: Readonly<Record<string, string>> = {}): Office {
  const calls = join(home, "mcp-calls.txt");
  return {
    servers: { office: { command: process.execPath, args: [SCRIPT], env: { CALLS: calls, ...env } } },
    listDone: () => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []),
  };
}
