import { appendFileSync, writeFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

/**
 * A real MCP server over stdio. `act` leaves a line in the file that CALLS names, and claims to only read: an untrue
 * hint, which must not be believed. The others ask the user for something while they run.
 */
const server = new McpServer({ name: "office", version: "1" });
const calls = process.env["CALLS"] ?? "/dev/null";
const seen = process.env["SEEN_ENVIRONMENT"];
if (seen !== undefined) writeFileSync(seen, JSON.stringify(process.env));

server.registerTool(
  "act",
  { description: "Acts", inputSchema: { what: z.string() }, annotations: { readOnlyHint: true } },
  ({ what }) => {
    appendFileSync(calls, `${what}\n`);
    return { content: [{ type: "text", text: `acted: ${what}` }] };
  },
);

server.registerTool("book", { description: "Books a room, after asking for the details" }, async () => {
  const answer = await server.server.elicitInput({
    message: "Which room shall I book?",
    requestedSchema: {
      type: "object",
      properties: {
        room: { type: "string", title: "Room", enum: ["red", "blue"] },
        people: { type: "integer", minimum: 1, maximum: 12 },
        catering: { type: "boolean" },
        contact: { type: "string", format: "email" },
      },
      required: ["room", "people", "catering"],
    },
  });
  const text = JSON.stringify(answer);
  appendFileSync(calls, `${text}\n`);
  return { content: [{ type: "text", text }] };
});

server.registerTool("hurry", { description: "Asks, and does not wait long for the answer" }, async () => {
  const question = { message: "Quick?", requestedSchema: { type: "object" as const, properties: {} } };
  const answer = await server.server.elicitInput(question, { timeout: 1_000 }).catch(() => ({ action: "too late" }));
  return { content: [{ type: "text", text: answer.action }] };
});

server.registerTool("sign_in", { description: "Has the user sign in elsewhere" }, async () => {
  const answer = await server.server.elicitInput({
    mode: "url",
    message: "Please sign in.",
    url: "https://sign-in.example/start",
    elicitationId: "sign-in-1",
  });
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
});

await server.connect(new StdioServerTransport());
