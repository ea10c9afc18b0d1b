import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from "@modelcontextprotocol/sdk/types.js";

/** A server over stdio that misbehaves: it talks beside the protocol, dies when it is told to, or lists what it should not. */
const many = Number(process.env["MANY"] ?? 0);
const tool = (name: string): Tool => ({
  name,
  description: `Does ${name}, as well as it can be done.`,
  inputSchema: { type: "object", properties: { what: { type: "string" } } },
});
const wrong = { name: "wrong", inputSchema: { type: "object", properties: 7 } } as unknown as Tool;
const tools = [
  tool("die"),
  tool("live"),
  ...Array.from({ length: many }, (_, index) => tool(`tool_${index}`)),
  ...(process.env["WRONG_LIST"] === undefined ? [] : [wrong]),
];

process.stdout.write("Welcome! I am a server.\n%%% {\n");
const server = new Server({ name: "bad", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => {
  if (name === "die") process.exit(1);
  process.stdout.write("%%% working\n");
  return { content: [{ type: "text", text: `${name} done` }] };
});
await server.connect(new StdioServerTransport());
