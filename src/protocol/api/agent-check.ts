import { z } from "zod";

const serverCheck = z.object({
  name: z.string(),
  type: z.enum(["stdio", "http", "sse"]),
  connected: z.boolean().describe("Whether the server was reached and listed its tools."),
  error: z.string().nullable().describe("Why it cannot be used, and what to do."),
  tools: z.array(z.string()).describe("The names of its tools, as on the server."),
});
export type WireServerCheck = z.infer<typeof serverCheck>;

/** What prevents an agent from working on this server, and what may be unexpected. */
export const agentCheck = z.object({
  agent_id: z.string(),
  version: z.number(),
  valid: z.boolean().describe("There are no problems, and every MCP server can be used."),
  problems: z
    .array(z.string())
    .describe("Why a session would be refused, each as `field: problem` if one field causes it."),
  notes: z.array(z.string()).describe("Notes that are not errors but may be unexpected."),
  mcp_servers: z.array(serverCheck),
});
export type WireAgentCheck = z.infer<typeof agentCheck>;
