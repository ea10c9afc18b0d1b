import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Preview, SessionEvent } from "../../src/core/events/events.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say, text, thinking, toolUse } from "../support/scripted-model.ts";
import { sharedSession } from "../support/shared-session.ts";

const plain = sharedSession();

test("a turn is told from the message to idle, each fact once and in order", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length === 0
      ? { blocks: [thinking("hmm"), text("Let me look."), toolUse("Bash", { command: "echo hello > f.txt; ls" })] }
      : say("There is one file."),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd: t.cwd,
  });
  const result = await session.send("List the files.").result();
  expect(result.stopReason).toEqual({ type: "end_turn" });
  expect(result.text).toBe("Let me look.\nThere is one file.");
  expect(readFileSync(join(t.cwd, "f.txt"), "utf8")).toBe("hello\n");

  const events = (await eventsOf(t.host, session.id)).filter(
    // The files are kept beside what the model says next.
    (event) =>
      event.type !== "capstan.process_started" &&
      (event.type !== "capstan.checkpoint_taken" || event.reason !== "call_end"),
  );
  expect(events.map((event) => event.type)).toEqual([
    "user.message",
    "session.status_running",
    "capstan.prompt_rendered",
    "span.model_request_start",
    "capstan.input_delivered",
    "span.model_request_end",
    "agent.thinking",
    "agent.message",
    "agent.tool_use",
    "capstan.checkpoint_taken",
    "capstan.permission_decided",
    "agent.tool_result",
    "span.model_request_start",
    "span.model_request_end",
    "agent.message",
    "session.usage",
    "session.status_idle",
  ]);
  expect(ofType(events, "agent.tool_result")[0]).toMatchObject({
    outcome: "completed",
    content: [{ type: "text", text: "f.txt" }],
  });
});

test("what the gateway metered is what the engine counted", async () => {
  await using t = await testHost((request) =>
    request.agent !== "main" || request.toolResults.length > 0
      ? say("ok", { usage: { cache_read_input_tokens: 1_000, cache_creation_input_tokens: 300 } })
      : call("Agent", { description: "help", subagent_type: "helper", prompt: "help" }),
  );
  const session = await t.host.startSession({
    agent: agent({
      model: "claude-sonnet-4-5",
      subagents: { helper: { description: "helps", instructions: "Help.", model: "haiku" } },
    }),
    cwd: t.cwd,
  });
  for (const message of ["one", "two"]) {
    const { usd } = await session.send(message).result();
    const [usage] = ofType(await eventsOf(t.host, session.id), "session.usage").slice(-1);
    const engine = Object.values(usage?.usage.engine ?? {}).reduce((sum, model) => sum + model.usd, 0);
    expect(usd).toBeGreaterThan(0);
    expect(engine).toBeCloseTo(usd ?? 0, 10);
  }
});

test("previews carry the id of the event they become", async () => {
  const { session } = await plain(() => ({ blocks: [thinking("let me see"), text("one two three")] }));
  const seen: (SessionEvent | Preview)[] = [];
  for await (const item of session.send("Count.")) seen.push(item);
  const [message] = seen.filter((item) => item.type === "agent.message");
  const deltas = seen.filter((item) => item.type === "event_delta" && item.event_id === message?.id);
  expect(deltas.map((item) => (item.type === "event_delta" ? item.delta.content.text : "")).join("")).toBe(
    "one two three",
  );
  const starts = seen.flatMap((item) => (item.type === "event_start" ? [item.event.type] : []));
  expect(starts).toEqual(["agent.thinking", "agent.message"]);
});

test("an answer that is cut off is withdrawn, and only the repeated one is an event", async () => {
  const answers = [say("This is cut off in the mid", { dropAfter: 5 })];
  const { session } = await plain(() => answers.shift() ?? say("whole answer"));
  const seen: (SessionEvent | Preview)[] = [];
  for await (const item of session.send("Speak.")) seen.push(item);
  const started = seen.flatMap((item) => (item.type === "event_start" ? [item.event.id] : []));
  const withdrawn = seen.flatMap((item) => (item.type === "capstan.event_withdrawn" ? [item.event_id] : []));
  const said = seen.flatMap((item) => (item.type === "agent.message" ? [item.id] : []));
  expect(withdrawn).toEqual([started[0]]);
  expect(said).toHaveLength(1);
  expect(said).not.toContain(withdrawn[0]);
  expect(seen.some((item) => item.type === "span.model_request_end" && item.is_error === true && item.estimated)).toBe(
    true,
  );
});

test("interrupting ends the turn, keeps what was said, and the session goes on", async () => {
  const { t, session, events } = await plain((request) =>
    request.last.includes("long") ? say("word ".repeat(400), { pace: 10 }) : say("next answer"),
  );
  const turn = session.send("Say something long.");
  let interrupted: Promise<void> | undefined;
  let deltas = 0;
  for await (const item of turn) {
    if (item.type !== "event_delta") continue;
    deltas += 1;
    if (deltas === 5) interrupted = session.interrupt();
  }
  await interrupted;
  const result = await turn.result();
  expect(result.stopReason).toEqual({ type: "end_turn" });
  expect(result.text).toMatch(/^(word )+$/);
  const types = (await events()).map((event) => event.type);
  expect(types.indexOf("user.interrupt")).toBeLessThan(types.indexOf("session.status_idle"));
  expect((await session.send("And now?").result()).text).toBe("next answer");
  expect(t.model.requests.at(-1)?.transcript).toContain("word word");
});

test("interrupting a running tool leaves one outcome, aborted, and no process", async () => {
  await using t = await testHost((request) =>
    request.last.includes("sleep") ? call("Bash", { command: "sleep 1000; touch late" }) : say("fine"),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd: t.cwd,
  });
  const turn = session.send("sleep");
  for await (const item of turn) if (item.type === "capstan.permission_decided") void session.interrupt();
  const results = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  expect(results.map((result) => result.outcome)).toEqual(["aborted"]);
  expect((await session.send("go on").result()).text).toBe("fine");
  expect(existsSync(join(t.cwd, "late"))).toBe(false);
});

test("a message sent while the agent works is taken into the turn under way", async () => {
  const released = Promise.withResolvers<void>();
  await using t = await testHost((request) =>
    request.toolResults.length > 0 || request.index > 0
      ? say(`answer ${request.index}`)
      : call("mcp__capstan__wait", {}),
  );
  const wait = defineTool({
    name: "wait",
    description: "Waits.",
    input: z.object({}),
    annotations: { safeInternal: true },
    handler: async () => {
      await released.promise;
      return "waited";
    },
  });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [wait] });
  const first = session.send("Begin.");
  for await (const item of session.events()) {
    if (item.type === "capstan.permission_decided") break;
  }
  const second = session.send("Also do this.");
  for await (const item of session.events())
    if (item.type === "user.message" && JSON.stringify(item.content).includes("Also")) break;
  released.resolve();
  const [one, two] = await Promise.all([first.result(), second.result()]);
  expect(one.stopReason).toEqual({ type: "end_turn" });
  expect(two.stopReason).toEqual({ type: "end_turn" });
  expect(t.model.requests.at(-1)?.transcript).toContain("Also do this.");
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "session.status_idle")).toHaveLength(1);
  expect(ofType(events, "capstan.input_delivered").flatMap((event) => event.event_ids)).toHaveLength(2);
});

test("text is taken literally: it names no file and runs no command of the engine's", async () => {
  const { t, session } = await plain(() => say("ok"));
  for (const message of ["/compact", "@/etc/passwd", "!`touch ran`"]) {
    await session.send(message).result();
    expect(t.model.requests.at(-1)?.last).toContain(message);
  }
  expect(t.model.requests.at(-1)?.transcript).not.toContain("root:");
  expect(existsSync(join(t.cwd, "ran"))).toBe(false);
});

test("structured output is checked and typed by the schema given", async () => {
  await using t = await testHost(() => call("StructuredOutput", { city: "Bergen", people: 291_940 }));
  const output = z.object({ city: z.string(), people: z.number().int() });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, output });
  const result = await session.send("Which city?").result();
  expectTypeOf(result.output).toEqualTypeOf<{ city: string; people: number } | undefined>();
  expect(result.output).toEqual({ city: "Bergen", people: 291_940 });
});

test("structured output that the schema refuses is a failed turn, whatever the engine thinks of it", async () => {
  await using t = await testHost(() => call("StructuredOutput", { even: 3 }));
  const output = z.object({ even: z.number().refine((value) => value % 2 === 0, "must be even") });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, output });
  await expect(session.send("A number?").result()).rejects.toMatchObject({
    code: "output_invalid",
    message: expect.stringContaining("even: must be even") as string,
  });
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "session.status_idle").at(-1)?.stop_reason).toEqual({ type: "retries_exhausted" });
  expect(ofType(events, "session.status_idle").at(-1)?.output).toBeUndefined();
});

test("a model that never gives the output it was asked for is a failed turn", async () => {
  await using t = await testHost(() => say("I would rather not."));
  const session = await t.host.startSession({
    agent: agent({ output_schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } }),
    cwd: t.cwd,
  });
  await expect(session.send("A number?").result()).rejects.toMatchObject({ code: "output_invalid" });
});

test("a model that cannot do what the agent asks of it is refused by name, and the session keeps its own", async () => {
  await using t = await testHost(() => say("ok"));
  const session = await t.host.startSession({
    agent: agent({ effort: "xhigh", thinking: "adaptive", fallback_model: "claude-opus-4-7" }),
    cwd: t.cwd,
  });
  await expect(session.setModel("claude-haiku-4-5")).rejects.toMatchObject({
    code: "invalid_agent",
    message: expect.stringMatching(
      /^effort: claude-haiku-4-5 .*\nthinking: claude-haiku-4-5 does not support adaptive/,
    ),
  });
  await expect(session.setModel("claude-opus-4-7")).rejects.toThrow(
    "fallback_model: claude-opus-4-7 is the model itself",
  );
  await session.send("hello").result();
  expect(t.model.requests.at(-1)?.body.model).toBe("claude-opus-4-8");
  expect(ofType(await eventsOf(t.host, session.id), "capstan.model_changed")).toEqual([]);
});

test("model and mode can change in a live session", async () => {
  await using t = await testHost((request) =>
    request.last.includes("write") ? call("Write", { file_path: join(t.cwd, "x.txt"), content: "x" }) : say("ok"),
  );
  const session = await t.host.startSession({ agent: agent({ tools: ["Write"] }), cwd: t.cwd });
  await session.send("hello").result();
  await session.setModel("claude-haiku-4-5");
  await session.setMode("accept-edits");
  await session.send("write it").result();
  expect(t.model.requests.at(-1)?.body.model).toContain("haiku");
  expect(existsSync(join(t.cwd, "x.txt"))).toBe(true);
  await session.setMode("read-only");
  await session.send("write it again").result();
  const decisions = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
  expect(decisions.map((event) => event.decided_by)).toEqual(["mode:accept-edits", "mode:read-only"]);
  await session.hibernate();
  await session.send("hello again").result();
  expect(t.model.requests.at(-1)?.body.model).toContain("haiku");
  expect(session.mode).toBe("read-only");
});

test("compaction on request shortens what the model sees, and the log keeps the summary", async () => {
  await using t = await testHost((request) =>
    request.last.includes("CRITICAL: Respond with TEXT ONLY")
      ? say("SUMMARY: they counted.")
      : say(`answer ${request.index}`),
  );
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("Count the apples.").result();
  await session.send("Count the pears.").result();
  await session.compact().result();
  const compacted = ofType(await eventsOf(t.host, session.id), "agent.thread_context_compacted");
  expect(compacted).toHaveLength(1);
  expect(compacted[0]).toMatchObject({
    trigger: "manual",
    summary: expect.stringContaining("SUMMARY: they counted.") as string,
  });
  await session.send("And now?").result();
  expect(t.model.requests.at(-1)?.transcript).toContain("SUMMARY: they counted.");
  expect(t.model.requests.at(-1)?.transcript).not.toContain("Count the apples.");
  await session.hibernate();
  await session.send("Still there?").result();
  expect(t.model.requests.at(-1)?.transcript).toContain("SUMMARY: they counted.");
  expect(t.model.requests.at(-1)?.transcript).toContain("And now?");
  const started = ofType(await eventsOf(t.host, session.id), "capstan.process_started");
  expect(started.map((event) => event.history)).toEqual(["new", "resumed"]);
});

test("a model that calls a tool while it summarises ends the turn, runs nothing, and the session goes on", async () => {
  await using t = await testHost((request) =>
    request.headers["x-claude-code-request-class"] === "compaction"
      ? call("Bash", { command: "touch ran" })
      : say("Hello."),
  );
  const permissions = { allow: ["Bash"] };
  const session = await t.host.startSession({ agent: agent({ tools: ["Bash"], permissions }), cwd: t.cwd });
  await session.send("Hi.").result();
  await expect(session.compact().result()).rejects.toMatchObject({
    code: "model_failed",
    message: expect.stringContaining("could not be compacted") as string,
  });
  expect(existsSync(join(t.cwd, "ran"))).toBe(false);
  expect(await session.send("Hi again.").result()).toMatchObject({ text: "Hello.", stopReason: { type: "end_turn" } });
});

test("a repeated model request is told while it is repeated", async () => {
  const faults = [{ status: 500, body: "{}" }];
  const { session, events } = await plain(() => faults.shift() ?? say("fine"));
  expect((await session.send("Hello.").result()).text).toBe("fine");
  const [retry] = ofType(await events(), "session.error");
  expect(retry?.error).toMatchObject({ retry_status: { type: "retrying" }, http_status: 500 });
});
