import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { RemoteMcpServer } from "../../src/core/agent/mcp-server-schema.ts";
import { connectRemoteServer } from "../../src/mcp/remote/server.ts";
import { remoteMcp } from "../support/mcp-remote.ts";
import { until } from "../support/until.ts";

/** What the agent's process has of a server somewhere else: the server in the host, and how it asks for it. */
async function agentSide(
  server: RemoteMcpServer,
  elicit: Parameters<typeof connectRemoteServer>[0]["elicit"] = async () => ({ action: "cancel" }),
): Promise<AsyncDisposable & { readonly client: Client }> {
  const { instance, close } = await connectRemoteServer({ name: "desk", server, elicit });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await instance.connect(ours);
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(theirs);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await close();
    },
  };
}

const stopped: string[] = [];

function desk(): McpServer {
  const server = new McpServer({ name: "desk", version: "7" }, { instructions: "Be brief." });
  server.registerTool(
    "echo",
    { description: "Echoes", inputSchema: { text: z.string() } },
    ({ text }, { requestInfo }) => ({
      content: [{ type: "text", text: `${text} ${String(requestInfo?.headers["x-desk"])}` }],
    }),
  );
  server.registerTool("refuse", { description: "Fails" }, () => ({
    isError: true,
    content: [{ type: "text", text: "out of paper" }],
  }));
  server.registerTool("count", { description: "Tells how far it is" }, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2]) {
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken: _meta?.progressToken ?? "", progress, total: 2, message: `${progress}` },
      });
      // What comes together with the answer is not told any more.
      await sleep(50);
    }
    return { content: [{ type: "text", text: "counted" }] };
  });
  server.registerTool("ask", { description: "Asks" }, async () => {
    const answer = await server.server.elicitInput({
      message: "Which?",
      requestedSchema: { type: "object", properties: { which: { type: "string" } } },
    });
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });
  server.registerTool("wait", { description: "Waits until it is stopped" }, ({ signal }) => {
    const { promise, resolve } = Promise.withResolvers<{ content: [] }>();
    signal.addEventListener("abort", () => {
      stopped.push("wait");
      resolve({ content: [] });
    });
    return promise;
  });
  const late = server.registerTool("late", { description: "Comes late" }, () => ({ content: [] }));
  late.disable();
  server.registerTool("hire", { description: "Offers one more tool" }, () => {
    late.enable();
    return { content: [] };
  });
  return server;
}

const text = (result: unknown): unknown => (result as { content: { text?: string }[] }).content[0]?.text;

describe.each(["http", "sse"] as const)("a server over %s", (type) => {
  const headers = { "X-Desk": "seven" };

  test("is there for the agent with its tools, its words and its errors, and is sent the headers", async () => {
    await using remote = await remoteMcp(type, desk, { headers });
    await using agent = await agentSide(remote.server);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "refuse", "count", "ask", "wait", "hire"]);
    expect(tools[0]).toMatchObject({ description: "Echoes", inputSchema: { required: ["text"] } });
    expect(agent.client.getInstructions()).toBe("Be brief.");
    expect(text(await agent.client.callTool({ name: "echo", arguments: { text: "hello" } }))).toBe("hello seven");
    expect(await agent.client.callTool({ name: "refuse" })).toMatchObject({
      isError: true,
      content: [{ text: "out of paper" }],
    });
    expect(text(await agent.client.callTool({ name: "echo", arguments: {} }))).toContain("Invalid arguments");
    expect(remote.requests.every((request) => request.headers["x-desk"] === "seven")).toBe(true);
  });

  test("tells how far it is, asks people, and says when it has other tools", async () => {
    await using remote = await remoteMcp(type, desk);
    const asked: unknown[] = [];
    await using agent = await agentSide(remote.server, async (question) => {
      asked.push(question);
      return { action: "accept", content: { which: "blue" } };
    });
    const progress: unknown[] = [];
    await agent.client.callTool({ name: "count" }, undefined, { onprogress: (told) => progress.push(told) });
    expect(progress).toEqual([
      { progress: 1, total: 2, message: "1" },
      { progress: 2, total: 2, message: "2" },
    ]);
    expect(text(await agent.client.callTool({ name: "ask" }))).toBe('{"action":"accept","content":{"which":"blue"}}');
    expect(asked).toMatchObject([{ message: "Which?", mode: "form", requestedSchema: { type: "object" } }]);
    let changes = 0;
    agent.client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await agent.client.callTool({ name: "hire" });
    await until(
      () => changes,
      (count) => count > 0,
    );
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toContain("late");
  });

  test("is told when a call is given up, and when it is not needed any more", async () => {
    await using remote = await remoteMcp(type, desk);
    await using agent = await agentSide(remote.server);
    const stop = new AbortController();
    const waiting = agent.client.callTool({ name: "wait" }, undefined, { signal: stop.signal });
    await until(
      () => remote.requests.length,
      (count) => count > (type === "http" ? 4 : 3),
    );
    stopped.length = 0;
    stop.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    await until(
      () => stopped,
      (all) => all.length === 1,
    );
    expect(remote.sessions()).toBe(1);
    await agent[Symbol.asyncDispose]();
    await until(remote.sessions, (count) => count === 0);
  });

  test("that is cut off in the middle of a call fails it with words, and is there for the next one", async () => {
    await using remote = await remoteMcp(type, desk, { headers });
    await using agent = await agentSide(remote.server);
    const before = remote.requests.length;
    const waiting = agent.client.callTool({ name: "wait" });
    await until(
      () => remote.requests.length,
      (count) => count > before,
    );
    remote.forget();
    remote.cut();
    expect(await waiting).toEqual({
      isError: true,
      content: [
        {
          type: "text",
          text: expect.stringMatching(
            /^The MCP server desk failed: the connection (?:ended before its answer|was cut)\..* The next call reconnects\.$/,
          ),
        },
      ],
    });
    expect(text(await agent.client.callTool({ name: "echo", arguments: { text: "again" } }))).toBe("again seven");
  });
});

test("a server that has forgotten the session runs the call in a new one", async () => {
  await using remote = await remoteMcp("http", desk, { headers: { "X-Desk": "nine" } });
  await using agent = await agentSide(remote.server);
  remote.forget();
  expect(text(await agent.client.callTool({ name: "echo", arguments: { text: "hello" } }))).toBe("hello nine");
  expect(remote.sessions()).toBe(1);
});
