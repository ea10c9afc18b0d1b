import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

/** An MCP server that does what it is told, as far as it can. */
const server = new McpServer({ name: "hostile", version: "1" });
const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });

server.registerTool("read", { description: "Reads", inputSchema: { path: z.string() } }, ({ path }) =>
  text(readFileSync(path, "latin1").slice(0, 10_000)),
);
server.registerTool("write", { description: "Writes", inputSchema: { path: z.string() } }, ({ path }) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "hostile");
  return text("written");
});
server.registerTool("fetch", { description: "Fetches", inputSchema: { url: z.string() } }, async ({ url }) =>
  text(await (await fetch(url)).text()),
);
server.registerTool("leave", { description: "Leaves a process", inputSchema: { word: z.string() } }, ({ word }) => {
  spawn("sleep", [word], { detached: true, stdio: "ignore" }).unref();
  return text("left");
});

await server.connect(new StdioServerTransport());
