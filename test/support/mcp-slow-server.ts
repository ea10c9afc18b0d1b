import { writeFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

/** A server over stdio whose tools take their time, in different ways. */
const server = new McpServer({ name: "slow", version: "1" });
const cancelled = process.env["CANCELLED"];
const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

server.registerTool("hang", { description: "Never answers" }, async ({ signal }) => {
  if (cancelled !== undefined) {
    signal.addEventListener("abort", () => writeFileSync(cancelled, ""));
    writeFileSync(`${cancelled}.started`, "");
  }
  return new Promise<never>(() => {});
});

server.registerTool("ask", { description: "Asks a person" }, async () => {
  const question = { message: "Well?", requestedSchema: { type: "object" as const, properties: {} } };
  return said((await server.server.elicitInput(question)).action);
});

server.registerTool("flood", { description: "Writes without end" }, async () => {
  const piece = "x".repeat(1024 * 1024);
  for (;;) if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once("drain", resolve));
});

let listings = 0;
server.registerTool("announce", { description: "Says again and again that its tools have changed" }, async () => {
  for (let times = 0; times < 5_000; times++) await server.server.sendToolListChanged();
  return said("announced");
});
server.registerTool("listings", { description: "How often it was asked for its tools" }, () => said(String(listings)));

server.registerTool("long", { description: "Has much to say" }, () => said("0123456789".repeat(30_000)));

process.stdin.on("data", (chunk: Buffer) => {
  listings += chunk.toString("utf8").split('"tools/list"').length - 1;
});
await server.connect(new StdioServerTransport());
