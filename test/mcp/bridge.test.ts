import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Tool, ToolOutcome } from "../../src/core/ports/tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createToolServer, type ToolServerOptions } from "../../src/mcp/bridge.ts";
import { toolContext } from "../support/tool-context.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { to: { oneOf: [{ type: "string", format: "email" }, { $ref: "#/$defs/id" }] } },
  additionalProperties: false,
  $defs: { id: { type: "integer", minimum: 1 } },
};
const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.object({ to: z.unknown() }),
  inputJsonSchema: schema,
  annotations: { readOnly: true },
  handler: ({ to }) => ({ data: to }),
});
const wipe = defineTool({
  name: "wipe",
  description: "Wipes.",
  input: z.object({}),
  annotations: { destructive: true },
  handler: () => "",
});

/** A call as the agent process makes it. */
const call = (name: string, args?: Record<string, unknown>) => ({
  name,
  ...(args !== undefined && { arguments: args }),
  _meta: { "claudecode/toolUseId": "toolu_7" },
});

async function connect(options: Partial<ToolServerOptions> = {}): Promise<Client & AsyncDisposable> {
  const server = createToolServer({
    name: "capstan",
    tools: [echo, wipe],
    run: (tool, input, { callId, signal }) => tool.run(input, toolContext({ callId, signal })),
    ...options,
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(far), client.connect(near)]);
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  });
}

describe("the list of tools", () => {
  test("passes names, descriptions, JSON Schemas and hints on unchanged", async () => {
    await using client = await connect();
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: "echo",
        description: "Says it again.",
        annotations: { readOnlyHint: true, destructiveHint: false },
      },
      { name: "wipe", annotations: { readOnlyHint: false, destructiveHint: true } },
    ]);
    expect(tools[0]?.inputSchema).toEqual(schema);
  });

  test("lets the calls of a tool that runs in a client wait side by side", async () => {
    await using client = await connect({ tools: [{ ...wipe, custom: true }] });
    expect((await client.listTools()).tools).toMatchObject([{ name: "wipe", annotations: { readOnlyHint: true } }]);
  });

  test("refuses two tools of one name", () => {
    expect(() =>
      createToolServer({ name: "capstan", tools: [echo, { ...echo }], run: async () => outcome([]) }),
    ).toThrow(expect.objectContaining({ code: "invalid_input", message: "Two tools are named echo. Rename one." }));
  });

  test("may be empty", async () => {
    await using client = await connect({ tools: [] });
    expect(await client.listTools()).toMatchObject({ tools: [] });
  });
});

function outcome(content: ToolOutcome["content"], isError = false): ToolOutcome {
  return { content, isError };
}

describe("a call", () => {
  test("reaches run with the tool, its input and the model's call id", async () => {
    const seen: { tool: Tool; input: unknown; callId: string }[] = [];
    await using client = await connect({
      run: async (tool, input, { callId }) => {
        seen.push({ tool, input, callId });
        return outcome([]);
      },
    });
    await client.callTool(call("echo", { to: 1 }));
    await client.callTool(call("wipe"));
    expect(seen).toEqual([
      { tool: echo, input: { to: 1 }, callId: "toolu_7" },
      { tool: wipe, input: {}, callId: "toolu_7" },
    ]);
  });

  test("of a tool from defineTool answers with its result", async () => {
    await using client = await connect();
    expect(await client.callTool(call("echo", { to: [1, 2] }))).toEqual({
      isError: false,
      content: [{ type: "text", text: "[1,2]" }],
    });
  });

  test.each([
    ["a tool that is not there", call("nothing"), "Unknown tool nothing."],
    ["a tool without saying which call it is", { name: "echo" }, "The call has no claudecode/toolUseId."],
  ])("of %s is refused", async (_what, params, message) => {
    await using client = await connect();
    await expect(client.callTool(params)).rejects.toThrow(message);
  });

  test("that the caller cancels aborts the signal", async () => {
    const started = Promise.withResolvers<AbortSignal>();
    await using client = await connect({
      run: async (_tool, _input, { signal }) => {
        started.resolve(signal);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return outcome([]);
      },
    });
    const caller = new AbortController();
    const answer = client.callTool(call("echo"), undefined, { signal: caller.signal });
    const signal = await started.promise;
    caller.abort();
    await expect(answer).rejects.toThrow();
    expect(signal.aborted).toBe(true);
  });
});

describe("a result", () => {
  const data = "JVBERg==";
  test.each<[string, ToolOutcome["content"], unknown[]]>([
    ["nothing", [], []],
    ["text", [{ type: "text", text: "a" }], [{ type: "text", text: "a" }]],
    [
      "an image",
      [{ type: "image", source: { type: "base64", data, media_type: "image/png" } }],
      [{ type: "image", data, mimeType: "image/png" }],
    ],
    [
      "an image elsewhere",
      [{ type: "image", source: { type: "url", url: "https://x.org/a.png" } }],
      [{ type: "resource_link", uri: "https://x.org/a.png", name: "image" }],
    ],
    [
      "an image in a file",
      [{ type: "image", source: { type: "file", file_id: "file_1" } }],
      [{ type: "text", text: "[image: file file_1]" }],
    ],
    [
      "a resource",
      [{ type: "document", title: "note://1", source: { type: "text", data: "n", media_type: "text/plain" } }],
      [{ type: "resource", resource: { uri: "note://1", text: "n", mimeType: "text/plain" } }],
    ],
    [
      "documents without a title, and with a context",
      [
        { type: "text", text: "a" },
        {
          type: "document",
          context: "From 2019.",
          source: { type: "base64", data, media_type: "application/pdf" },
        },
      ],
      [
        { type: "text", text: "a" },
        { type: "text", text: "From 2019." },
        { type: "resource", resource: { uri: "document:1", blob: data, mimeType: "application/pdf" } },
      ],
    ],
    [
      "documents elsewhere",
      [
        { type: "document", title: "Plan", source: { type: "url", url: "https://x.org/p.pdf" } },
        { type: "document", title: "Plan", source: { type: "file", file_id: "file_1" } },
      ],
      [
        { type: "resource_link", uri: "https://x.org/p.pdf", name: "Plan" },
        { type: "text", text: "[Plan: file file_1]" },
      ],
    ],
    [
      "a search result",
      [
        {
          type: "search_result",
          title: "Knots",
          source: "https://x.org/knots",
          content: [{ type: "text", text: "bowline" }],
          citations: { enabled: true },
        },
      ],
      [{ type: "text", text: "Knots (https://x.org/knots)\nbowline" }],
    ],
  ])("of %s becomes MCP content", async (_what, content, expected) => {
    await using client = await connect({ run: async () => outcome(content) });
    expect(await client.callTool(call("echo"))).toEqual({ isError: false, content: expected });
  });

  test("that is an error is marked as one, and its detail stays here", async () => {
    await using client = await connect({
      run: async () => ({ ...outcome([{ type: "text", text: "no" }], true), detail: "stack" }),
    });
    expect(await client.callTool(call("echo"))).toEqual({ isError: true, content: [{ type: "text", text: "no" }] });
  });
});
