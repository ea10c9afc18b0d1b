import type { McpServerStatus } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import type { McpServer } from "../../src/core/agent/mcp-server-schema.ts";
import { requireServers } from "../../src/engines/claude/mcp-servers.ts";

const program: McpServer = { command: "files", args: [], env: {} };

/** What the CLI tells of its servers, one look after the other. */
function looks(...statuses: readonly Partial<McpServerStatus>[]) {
  const left = statuses.map((status): McpServerStatus => ({ name: "files", status: "connected", ...status }));
  return { mcpServerStatus: async () => [left.length > 1 ? left.shift()! : left[0]!] };
}

const ready = (...names: string[]): Partial<McpServerStatus> => ({ tools: names.map((name) => ({ name })) });
const up = (seen: ReturnType<typeof looks>, server: McpServer = program, confined = false) =>
  requireServers(seen, { servers: { files: server }, confined });

describe("a server that the CLI starts", () => {
  test("is waited for", async () => {
    await up(looks({ status: "pending" }, { status: "pending" }, ready("list")));
  });

  test("that fails is named, with why", async () => {
    await expect(up(looks({ status: "failed", error: "spawn ENOENT" }))).rejects.toThrow(
      "The MCP server files (spawn ENOENT) did not start. Run its command by hand to see why, and correct mcp_servers in the agent's definition.",
    );
  });

  test("that says other things than MCP is told so, and that it has no network", async () => {
    const silent = looks({ status: "failed", error: "connection timed out after 30000ms" });
    await expect(up(silent, program, true)).rejects.toThrow(
      /may not be an MCP server, or may write other output to stdout\. It runs in the sandbox, without network/,
    );
  });

  test("must have the tools that its policy speaks of", async () => {
    const server: McpServer = { ...program, tools: { delte: "deny", "*": "ask" } };
    await expect(up(looks(ready("delete", "list")), server)).rejects.toMatchObject({
      code: "invalid_agent",
      message: "mcp_servers.files.tools.delte: the server has no such tool; did you mean delete?",
    });
    await up(looks(ready("delte")), server);
  });

  test("must have a tool: the CLI takes a wrong list for an empty one", async () => {
    await expect(up(looks({ tools: [] }))).rejects.toThrow(
      /^The MCP server files offers no tools: its list is empty, or/,
    );
  });

  test("may not have names that the CLI leaves out unsaid, unless the agent may not use them anyway", async () => {
    const long = "x".repeat(120);
    await expect(up(looks(ready("list", long)))).rejects.toThrow(
      `has tools with names that are too long for the model: ${long}. The limit is 116 characters here.`,
    );
    await up(looks(ready("list", long)), { ...program, tools: { [long]: "deny" } });
  });

  test("may not have tools that nobody could tell apart, unless the agent may use none of them", async () => {
    const same = looks(ready("list", "a.b", "a_b"));
    const policies: McpServer["tools"][] = [{}, { "a.b": "allow" }, { "a.b": "allow", a_b: "deny" }];
    for (const tools of policies)
      await expect(up(same, { ...program, tools })).rejects.toMatchObject({
        code: "engine_failed",
        message:
          "The MCP server files has tools with the same name for the model: a.b, a_b (mcp__files__a_b). Rename them in the server, or exclude all of them: mcp_servers.files.tools.<name>: deny.",
        data: { servers: ["files"], tools: ["a.b", "a_b"] },
      });
    await up(same, { ...program, tools: { "a.b": "deny", a_b: "deny" } });
    await up(looks(ready("a.b", "a-b")));
  });
});
