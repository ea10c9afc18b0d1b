import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createToolServer } from "../../src/mcp/bridge.ts";
import { say, scriptedModel, toolUse } from "../support/scripted-model.ts";
import { toolContext } from "../support/tool-context.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const long = "word ".repeat(30_000);
const probe = defineTool({
  name: "probe",
  description: "Returns what it is asked for.",
  input: z.object({ kind: z.enum(["text", "image", "resource", "long", "failure"]) }),
  annotations: { readOnly: true },
  handler: ({ kind }) => {
    switch (kind) {
      case "text":
        return "hello";
      case "image":
        return { images: [{ data: png, mediaType: "image/png" }] };
      case "resource":
        return { resources: [{ uri: "note://1", text: "remember" }] };
      case "long":
        return long;
      case "failure":
        throw new Error("no paper");
    }
  },
});

test("the real agent process calls a host tool with the model's call id and tells the model its results", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "capstan-bridge-"));
  const kinds = ["text", "image", "resource", "long", "failure", "nonsense"];
  const script = kinds.map((kind) => ({ blocks: [toolUse("mcp__capstan__probe", { kind }, `toolu_${kind}`)] }));
  const results = new Map<string, { readonly text: string; readonly isError: boolean }>();
  await using model = await scriptedModel(({ toolResults }) => {
    for (const { id, text, isError } of toolResults) results.set(id, { text, isError });
    return script.shift() ?? say("done");
  });
  const callIds: string[] = [];
  const instance = createToolServer({
    name: "capstan",
    tools: [probe],
    run: (tool, input, call) => {
      callIds.push(call.callId);
      return tool.run(input, toolContext(call));
    },
  });
  const run = query({
    prompt: "go",
    options: {
      cwd: folder.path,
      settingSources: [],
      tools: [],
      allowedTools: ["mcp__capstan__probe"],
      mcpServers: { capstan: { type: "sdk", name: "capstan", instance } },
      env: {
        PATH: process.env["PATH"],
        HOME: folder.path,
        CLAUDE_CONFIG_DIR: folder.path,
        CLAUDE_CODE_TMPDIR: folder.path,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_AUTH_TOKEN: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    },
  });
  const answers: unknown[] = [];
  for await (const message of run) if (message.type === "result") answers.push(message.subtype);

  expect(answers).toEqual(["success"]);
  expect(callIds).toEqual(kinds.map((kind) => `toolu_${kind}`));
  expect(Object.fromEntries(results)).toMatchObject({
    toolu_text: { text: "hello", isError: false },
    toolu_resource: { text: "[Resource from capstan at note://1] remember", isError: false },
    toolu_long: { text: long, isError: false },
    toolu_failure: { text: "Tool probe failed: no paper", isError: true },
    toolu_nonsense: { text: expect.stringContaining("- kind: "), isError: true },
  });
  const conversation = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(conversation).toContain(JSON.stringify({ type: "base64", media_type: "image/png", data: png }));
  const offered = model.requests[0]?.body.tools?.find(({ name }) => name === "mcp__capstan__probe");
  expect(offered?.input_schema).toEqual(probe.inputSchema);
});
