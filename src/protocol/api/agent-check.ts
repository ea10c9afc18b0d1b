import { z } from "zod";

const serverCheck = z.object({
  name: z.string(),
  type: z.enum(["stdio", "http", "sse"]),
  connected: z.boolean().describe("It was reached just now, and told its tools."),
  error: z.string().nullable().describe("Why it cannot be used, and what to do."),
  tools: z.array(z.string()).describe("The names of its tools, as the server has them."),
});
export type WireServerCheck = z.infer<typeof serverCheck>;

/** What keeps an agent from working on this server, and what may surprise. */
export const agentCheck = z.object({
  agent_id: z.string(),
  version: z.number(),
  valid: z.boolean().describe("There is no problem, and every MCP server can be used."),
  problems: z
    .array(z.string())
    .describe("What a session would be refused for, each as `field: problem` where one is to blame."),
  notes: z.array(z.string()).describe("What does not make it wrong, and may surprise."),
  mcp_servers: z.array(serverCheck),
});
export type WireAgentCheck = z.infer<typeof agentCheck>;
