import { describe, expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { uuidOf } from "../../src/core/ports/clock.ts";
import { type LoggedEvent, preview, type Preview, sessionEvent } from "../../src/core/events/events.ts";
import type { TurnResult } from "../../src/runtime/turn/turn.ts";
import { agent, eventsOf, ofType, testHost, type TestHost } from "../support/host.ts";
import { call, type ModelRequest, say, type Script, text, toolUse } from "../support/scripted-model.ts";

/** What the SDK can say, and where the log or the preview stream says it: one test for each kind of message. */

interface Told {
  readonly sessionId: string;
  readonly result: TurnResult;
  readonly events: readonly LoggedEvent[];
  readonly previews: readonly Preview[];
}

interface Given {
  readonly agent?: Partial<AgentInput>;
  /** Seen of each item of the turn; true interrupts the turn, once. */
  readonly interruptAt?: (item: LoggedEvent | Preview) => boolean;
}

const working = { tools: ["Bash"], permissions: { allow: ["Bash"] } };

/** One turn of the real CLI, and all that was told of it. */
async function oneTurn(t: TestHost, given: Given = {}): Promise<Told> {
  const session = await t.host.startSession({ agent: agent({ ...working, ...given.agent }), cwd: t.cwd });
  const turn = session.send("Do it.");
  const previews: Preview[] = [];
  let interrupted: Promise<void> | undefined;
  for await (const item of turn) {
    if (preview.safeParse(item).success) previews.push(item as Preview);
    if (interrupted === undefined && given.interruptAt?.(item) === true) interrupted = session.interrupt();
  }
  await interrupted;
  const events = await eventsOf(t.host, session.id);
  for (const event of events) expect(sessionEvent.safeParse(event).error?.issues ?? []).toEqual([]);
  return { sessionId: session.id, result: await turn.result(), events, previews };
}

/** Calls the shell once, then ends. */
const onceThenDone: Script = (request) =>
  request.toolResults.length > 0
    ? say("There is one file.")
    : { blocks: [text("Let me look."), toolUse("Bash", { command: "echo one.txt" })] };

/** What was told of one such turn, and what the model was asked: made once, looked at by several. */
let told: Promise<Told & { readonly cwd: string; readonly requests: readonly ModelRequest[] }> | undefined;
const plainTurn = (): NonNullable<typeof told> =>
  (told ??= (async () => {
    await using t = await testHost(onceThenDone);
    return { ...(await oneTurn(t)), cwd: t.cwd, requests: t.model.requests };
  })());

describe("what the SDK says is in the log:", () => {
  test("system/init, as session, model, tools and directory", async () => {
    const { events, sessionId, cwd, requests } = await plainTurn();
    expect(ofType(events, "capstan.prompt_rendered")).toMatchObject([
      { model: "claude-opus-4-8", tools: ["Bash"], cwd, engine: "claude" },
    ]);
    expect(requests[0]?.headers["x-claude-code-session-id"]).toBe(uuidOf(sessionId));
  });

  test("assistant, as the text and the tool with its input", async () => {
    const { events } = await plainTurn();
    const [message] = ofType(events, "agent.message");
    expect(message?.content).toEqual([{ type: "text", text: "Let me look." }]);
    expect(message).not.toHaveProperty("session_thread_id");
    expect(ofType(events, "agent.tool_use")).toMatchObject([{ name: "Bash", input: { command: "echo one.txt" } }]);
    expect(ofType(events, "agent.tool_use")[0]).not.toHaveProperty("session_thread_id");
  });

  test("assistant of a subagent, as its text under the call that started it", async () => {
    await using t = await testHost((request) => {
      if (request.agent !== "main") return say("I am the helper.");
      const help = { description: "help", subagent_type: "helper", prompt: "Help." };
      return request.toolResults.length > 0 ? say("Done.") : { blocks: [toolUse("Agent", help, "toolu_parent")] };
    });
    const subagents = { helper: { description: "helps", instructions: "Help." } };
    const { events } = await oneTurn(t, { agent: { subagents } });
    const [thread] = ofType(events, "session.thread_created");
    expect(thread).toMatchObject({ call_id: "toolu_parent", agent_name: "helper" });
    const said = ofType(events, "agent.message").filter((event) => event.session_thread_id != null);
    expect(said).toMatchObject([
      { session_thread_id: thread?.session_thread_id, content: [{ type: "text", text: "I am the helper." }] },
    ]);
  });

  test.each([
    ["a result", "echo fine", { is_error: false, outcome: "completed", content: [{ type: "text", text: "fine" }] }],
    [
      "an error",
      "echo bad; exit 3",
      { is_error: true, outcome: "failed", content: [{ type: "text", text: "Exit code 3\nbad" }] },
    ],
  ])("user with %s, as the call's output", async (_what, command, expected) => {
    await using t = await testHost((request) =>
      request.toolResults.length > 0 ? say("Done.") : call("Bash", { command }),
    );
    const { events } = await oneTurn(t);
    const [use] = ofType(events, "agent.tool_use");
    expect(use?.name).toBe("Bash");
    expect(ofType(events, "agent.tool_result")).toMatchObject([
      { tool_use_id: use?.id, call_id: use?.call_id, ...expected },
    ]);
  });

  test("result success, as cost, usage of each model and model requests", async () => {
    const { events, result } = await plainTurn();
    expect(result).toMatchObject({ stopReason: { type: "end_turn" }, text: "Let me look.\nThere is one file." });
    const [usage] = ofType(events, "session.usage");
    const spans = ofType(events, "span.model_request_end");
    const sum = (pick: (span: (typeof spans)[number]) => number): number =>
      spans.reduce((all, span) => all + pick(span), 0);
    expect(spans).toHaveLength(2);
    expect(usage?.usage.usd).toBeCloseTo(
      sum((span) => span.usd ?? 0),
      10,
    );
    expect(usage?.usage.engine).toEqual({
      "claude-opus-4-8": {
        input_tokens: sum((span) => span.model_usage.input_tokens),
        output_tokens: sum((span) => span.model_usage.output_tokens),
        usd: expect.closeTo(result.usd ?? 0, 10) as number,
      },
    });
    expect(result.usd).toBeGreaterThan(0);
    expect(events.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "end_turn" } });
  });

  test("result error_max_budget_usd, as the limit and what was spent", async () => {
    // An answer far longer than what was reserved for it, no call and no second request: only the CLI can say so.
    await using t = await testHost(() => say("This costs more than there is.", { usage: { output_tokens: 100_000 } }));
    const { events, result } = await oneTurn(t, { agent: { budget: { usd: 0.2 } } });
    expect(t.model.requests).toHaveLength(1);
    expect(result.stopReason).toEqual({ type: "budget_reached" });
    expect(ofType(events, "capstan.limit_reached")).toMatchObject([
      { which: "usd", limit: 0.2, spent: expect.closeTo(result.usd ?? 0, 10) as number },
    ]);
    expect(result.usd).toBeGreaterThan(0.2);
  });

  test("result error_max_turns, as the limit and the steps made", async () => {
    await using t = await testHost(() => call("Bash", { command: "true" }));
    const { events, result } = await oneTurn(t, { agent: { budget: { steps: 2 } } });
    expect(t.model.requests).toHaveLength(2);
    expect(result.stopReason).toEqual({ type: "budget_reached" });
    expect(ofType(events, "capstan.limit_reached")).toMatchObject([{ which: "steps", limit: 2, spent: 2 }]);
  });

  test("result error_during_execution of an interrupt, as the end of a turn that a user asked for", async () => {
    await using t = await testHost(() => call("Bash", { command: "sleep 1000" }));
    const { events, result } = await oneTurn(t, { interruptAt: (item) => item.type === "capstan.permission_decided" });
    expect(result.stopReason).toEqual({ type: "end_turn" });
    expect(ofType(events, "agent.tool_result")).toMatchObject([{ outcome: "aborted", is_error: true }]);
    expect(ofType(events, "session.error")).toEqual([]);
    const types = events.map((event) => event.type);
    expect(types).toContain("user.interrupt");
    expect(types.indexOf("user.interrupt")).toBeLessThan(types.indexOf("session.status_idle"));
  });

  test("system/compact_boundary, as what the context was before and why it was made shorter", async () => {
    await using t = await testHost((request) =>
      request.last.includes("CRITICAL: Respond with TEXT ONLY") ? say("SUMMARY: nothing yet.") : say("ok"),
    );
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    await session.send("One.").result();
    await session.send("Two.").result();
    await session.compact().result();
    const [compacted] = ofType(await eventsOf(t.host, session.id), "agent.thread_context_compacted");
    expect(compacted).toMatchObject({
      trigger: "manual",
      summary: expect.stringContaining("SUMMARY: nothing yet.") as string,
    });
    expect(compacted?.tokens_before).toBeGreaterThan(0);
  });
});

test("what the SDK streams is in the previews, piece by piece, and never in the log", async () => {
  await using t = await testHost(() => say("one two three"));
  const { events, previews } = await oneTurn(t);
  const [message] = ofType(events, "agent.message");
  const [start, ...deltas] = previews;
  expect(start).toEqual({ type: "event_start", event: { id: message?.id, type: "agent.message" } });
  expect(deltas).toEqual(
    deltas.map(() => ({
      type: "event_delta",
      event_id: message?.id,
      delta: { type: "content_delta", content: { type: "text", text: expect.any(String) as string } },
    })),
  );
  const streamed = deltas.map((item) => (item.type === "event_delta" ? item.delta.content.text : ""));
  expect(streamed.join("")).toBe("one two three");
  expect(events.filter((event) => preview.safeParse(event).success)).toEqual([]);
});
