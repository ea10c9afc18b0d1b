import { expect, test } from "vitest";
import { z } from "zod";
import { compileSchema } from "../../../src/app/host/lazy-tools.ts";
import { runCalls } from "../../../src/engines/direct/line/calls.ts";
import { InputChecks } from "../../../src/engines/direct/line/input-checks.ts";
import { traitsOf } from "../../../src/engines/builtin-tools.ts";
import { type BuiltinTool, textOutcome } from "../../../src/engines/direct/tools/builtin-tool.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { agent, ofType } from "../../support/host.ts";
import { call, type ModelRequest, say, text, thinking, toolUse } from "../../support/scripted-model.ts";
import { directHost } from "./direct-host.ts";

const seen: unknown[] = [];
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({ at: z.string() }),
  annotations: { safeInternal: true, readOnly: true },
  handler: ({ at }) => {
    seen.push(at);
    return `saw ${at}`;
  },
});
const LOOK = "mcp__capstan__look";

test("a call of an unknown tool, with invalid input or with no JSON is answered with what is wrong, and runs nothing", async () => {
  seen.length = 0;
  await using t = await directHost(({ index }) => {
    if (index === 0) return { blocks: [toolUse("Nothing", {}), toolUse(LOOK, { at: 5 })] };
    return index === 1 ? { blocks: [toolUse(LOOK, ["x"] as never)] } : say("sorry");
  });
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  expect((await session.send("Look.").result()).text).toBe("sorry");
  const [first, second] = t.model.requests[1]?.toolResults ?? [];
  expect(first).toMatchObject({
    isError: true,
    text: expect.stringContaining("Unknown tool Nothing") as string,
  });
  expect(second).toMatchObject({ isError: true, text: expect.stringContaining("/at: must be string") as string });
  expect(t.model.requests[2]?.toolResults[0]?.text).toContain("not a JSON object");
  expect(seen).toEqual([]);
  const events = await t.host.read(session.id);
  expect(ofType(events, "capstan.permission_decided")).toEqual([]);
  expect(ofType(events, "agent.tool_result").map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
});

test("a call that is cut off at max_tokens does not run; the model is told, and makes it again", async () => {
  seen.length = 0;
  await using t = await directHost(({ index }) =>
    index === 0
      ? { blocks: [text("I look."), { ...toolUse(LOOK, {}), input: '{"at": "ha' as never }], stopReason: "max_tokens" }
      : index === 1
        ? call(LOOK, { at: "half" })
        : say("done"),
  );
  // The scripted model writes the input as JSON: a string is no object, as half a call is none.
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  await session.send("Look.").result();
  expect(t.model.requests[1]?.last).toContain("cut off in the middle of a tool call");
  expect(seen).toEqual(["half"]);
  expect(ofType(await t.host.read(session.id), "agent.tool_use")).toHaveLength(1);
});

test("an answer that is cut off again and again ends the turn by name", async () => {
  await using t = await directHost(() => say("on and on", { stopReason: "max_tokens" }));
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await expect(session.send("Talk.").result()).rejects.toThrow("reached its maximum length");
  expect(t.model.requests).toHaveLength(4);
});

test("a model that repeats a call for ever is told, and then the turn ends by name", async () => {
  await using t = await directHost(() => call(LOOK, { at: "it" }));
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  await expect(session.send("Look.").result()).rejects.toThrow(`called ${LOOK} 30 times in a row`);
  expect(t.model.requests[4]?.last).not.toContain("times in a row");
  expect(t.model.requests[5]?.last).toContain("5 times in a row");
  expect(t.model.requests).toHaveLength(30);
});

test("an empty answer is asked for once more", async () => {
  await using t = await directHost(({ index }) => (index === 0 ? { blocks: [], stopReason: "end_turn" } : say("here")));
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  expect((await session.send("Speak.").result()).text).toBe("here");
  expect(t.model.requests[1]?.last).toContain("Your answer was empty");
});

test("an answer that the API paused is continued as it is", async () => {
  await using t = await directHost(({ index }) =>
    index === 0 ? say("first half", { stopReason: "pause_turn" }) : say("second half"),
  );
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  expect((await session.send("Go.").result()).text).toBe("first half\nsecond half");
  expect(t.model.requests[1]?.body.messages.at(-1)?.role).toBe("assistant");
});

test("the prefix of a request stays the same while a conversation grows, and its end is marked for the cache", async () => {
  await using t = await directHost(({ index }) => (index === 1 ? call(LOOK, { at: "x" }) : say(`answer ${index}`)));
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  await session.send("One.").result();
  await session.send("Two.").result();
  await session.hibernate();
  await session.send("Three.").result();
  const sent = t.model.requests.map(({ body }) => body);
  for (const [index, body] of sent.entries()) {
    expect((JSON.stringify(body).match(/cache_control/g) ?? []).length).toBeLessThanOrEqual(4);
    expect(JSON.stringify(body.messages.at(-1))).toContain("cache_control");
    const before = sent[index - 1];
    if (before === undefined) continue;
    expect(body.tools).toEqual(before.tools);
    expect(body.system).toEqual(before.system);
    expect(withoutMarks(body.messages.slice(0, before.messages.length))).toEqual(withoutMarks(before.messages));
  }
});

test("thinking goes back to the model word for word, also after the session was put to rest", async () => {
  await using t = await directHost(({ index }) =>
    index === 0 ? { blocks: [thinking("hmm"), toolUse(LOOK, { at: "x" })] } : say("ok"),
  );
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  await session.send("Think.").result();
  await session.hibernate();
  await session.send("Again.").result();
  for (const { body } of t.model.requests.slice(1))
    expect(body.messages[1]?.content).toMatchObject([{ type: "thinking", thinking: "hmm" }, { type: "tool_use" }]);
});

test("a provider that gives every answer and call the same name does not mix them up", async () => {
  await using t = await directHost(({ index }) =>
    index < 2 ? { blocks: [toolUse(LOOK, { at: `place ${index}` }, "call_0")] } : say("ok"),
  );
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [look] });
  await session.send("Look twice.").result();
  await session.hibernate();
  await session.send("Well?").result();
  const { messages } = t.model.requests.at(-1)?.body ?? { messages: [] };
  const results = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  expect(results.filter(({ type }) => type === "tool_result").map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringContaining("saw place 0"),
    expect.stringContaining("saw place 1"),
  ]);
});

test("subagents side by side, a provider that repeats the names of calls, and the calls are kept apart", async () => {
  seen.length = 0;
  await using t = await directHost(({ agent: line, toolResults }) => {
    if (toolResults.length > 0) return say(line === "main" ? "done" : `reported ${toolResults[0]?.text}`);
    const task = { description: "look", subagent_type: "looker", prompt: "Look." };
    if (line === "main") return { blocks: [toolUse("Agent", task, "call_0"), toolUse("Agent", task, "call_1")] };
    return { blocks: [toolUse(LOOK, { at: line }, "call_0")] };
  });
  const lookers = agent({ subagents: { looker: { description: "looks", instructions: "You look." } } });
  await using session = await t.host.startSession({ agent: lookers, cwd: t.cwd, tools: [look] });
  expect((await session.send("Look.").result()).text).toBe("done");
  const events = await t.host.read(session.id);
  const calls = ofType(events, "agent.tool_use").map(({ call_id: id }) => id);
  expect(calls).toHaveLength(4);
  expect(new Set(calls).size).toBe(4);
  for (const { agent: line, toolResults } of t.model.requests)
    if (line !== "main" && toolResults.length > 0) expect(toolResults[0]?.text).toBe(`saw ${line}`);
});

test("a check of an input that breaks down is a failed call, and not a failed turn", async () => {
  const tool: BuiltinTool = {
    name: "Deep",
    description: "",
    inputSchema: { type: "object", additionalProperties: { $ref: "#" } },
    traits: { readOnly: true, edit: false, safeInternal: true },
    run: async () => textOutcome("ran"),
  };
  const depth = 200_000;
  const written = `${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`;
  const input = JSON.parse(written) as Record<string, unknown>;
  const results = await runCalls(
    [{ callId: "call_0", name: "Deep", input, written }],
    {
      host: { prepare: async () => ({ behavior: "allow" }), emit: async () => {} },
      checks: new InputChecks(compileSchema),
      threadId: undefined,
      tools: [tool],
      readable: [],
      isConfined: false,
    },
    new AbortController().signal,
  );
  expect(results).toMatchObject([
    { isError: true, content: [{ text: expect.stringContaining("call failed") as string }] },
  ]);
});

test("a call about which the host fails to decide is not run", async () => {
  let ran = 0;
  const tool: BuiltinTool = {
    name: "Acts",
    description: "",
    inputSchema: { type: "object" },
    traits: { readOnly: false, edit: false, safeInternal: false },
    run: async () => ((ran += 1), textOutcome("ran")),
  };
  const results = await runCalls(
    [{ callId: "call_0", name: "Acts", input: {}, written: "{}" }],
    {
      host: { prepare: () => Promise.reject(new Error("the store is full")), emit: async () => {} },
      checks: new InputChecks(compileSchema),
      threadId: undefined,
      tools: [tool],
      readable: [],
      isConfined: false,
    },
    new AbortController().signal,
  );
  expect(results).toMatchObject([
    { isError: true, content: [{ text: expect.stringContaining("the store is full") as string }] },
  ]);
  expect(ran).toBe(0);
});

test("patterns of a server's schema are left to the server, and everything else of it is checked", async () => {
  const checks = new InputChecks(compileSchema);
  const problems = (name: string, inputSchema: Record<string, unknown>, input: unknown) =>
    checks.problems({ name, inputSchema, traits: traitsOf(name) }, input);
  const evil = { type: "string", pattern: "^(a+)+$" };
  const plain = { type: "object", properties: { pattern: { type: "number" }, deep: { type: "array", items: evil } } };
  expect(await problems("mcp__server__x", plain, { deep: ["b"] })).toBeUndefined();
  expect(await problems("mcp__server__x", plain, { deep: [1] })).toBe("/deep/0: must be string.");
  expect(await problems("mcp__server__x", plain, { pattern: "x" })).toBe("/pattern: must be number.");
  // Without its pattern each of these would refuse what fits.
  for (const schema of [
    { not: evil },
    { oneOf: [evil, { type: "string", pattern: "b" }] },
    { patternProperties: { "^(a+)+$": {} }, additionalProperties: false },
    { allOf: [{ $ref: "#/$defs/x/const" }], $defs: { x: { const: evil } } },
  ])
    expect(await problems("mcp__server__x", { ...schema }, schema.patternProperties ? { a: 1 } : "b")).toBeUndefined();
  // Those of the host are written by whoever runs it.
  expect(await problems("mcp__capstan__x", { ...plain }, { deep: ["b"] })).toContain("must match pattern");
});

test("patterns of a custom tool's schema are left to the client, and one of an output schema holds up no host for long", async () => {
  const checks = new InputChecks(compileSchema);
  const slow = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } };
  const input = { text: `${"a".repeat(60)}!` };
  const custom = { ...traitsOf("mcp__capstan__x"), custom: true };
  const tool = { name: "mcp__capstan__x", inputSchema: { ...slow }, traits: custom };
  expect(await checks.problems(tool, input)).toBeUndefined();
  expect(await checks.problems(tool, { text: 1 })).toBe("/text: must be string.");
  const output = { name: "StructuredOutput", inputSchema: { ...slow }, traits: traitsOf("StructuredOutput") };
  expect(await checks.problems(output, input)).toContain("takes too long");
  expect(await checks.problems(output, { text: "b" })).toContain("must match pattern");
  expect(await checks.problems(output, { text: "aaa" })).toBeUndefined();
});

test("a conversation that the API finds too long is summarised, and the question is asked again", async () => {
  let refused = 0;
  await using t = await directHost((request) => {
    if (isSummary(request)) return say("SUMMARY: apples.");
    if (request.transcript.includes("apples?") && request.last.includes("pears") && (refused += 1) === 1)
      return {
        status: 400,
        body: JSON.stringify({
          type: "error",
          error: { type: "invalid_request_error", message: "prompt is too long: 9 > 8" },
        }),
      };
    return say("ok");
  });
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("How many apples?").result();
  expect((await session.send("And pears?").result()).text).toBe("ok");
  const last = t.model.requests.at(-1)?.transcript;
  expect(last).toContain("SUMMARY: apples.");
  expect(last).toContain("And pears?");
  expect(last).not.toContain("How many apples?");
});

test("a session has no process", async () => {
  await using t = await directHost(() => say("ok"));
  await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("Hello.").result();
  const [started] = ofType(await t.host.read(session.id), "capstan.process_started");
  expect(started).toMatchObject({ history: "new" });
  expect(started?.pid).toBeUndefined();
  expect(t.host.load()).toMatchObject({ processes: 0 });
});

/** A request without the marks of the prompt cache. */
function withoutMarks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner)));
}

function isSummary({ headers }: ModelRequest): boolean {
  return headers["x-claude-code-request-class"] === "compaction";
}
