import { describe, expect, test } from "vitest";
import { threadId } from "../../src/core/ports/clock.ts";
import type { EngineFact } from "../../src/core/ports/engine.ts";
import { translate } from "../../src/engines/claude/sdk/from-sdk-message.ts";
import { draftsOf, draftsOfType, factsOf, type Message, recording, SESSION, steps, translator } from "./recordings.ts";

const crew = recording("subagents", "two and a nested one, then one again");
const thread = (agent: string): string => threadId(SESSION, agent);
/** The worker, the boss, and the worker that the boss started. */
const [WORKER, BOSS, NESTED] = [thread("agent1"), thread("agent2"), thread("agent3")];

/** What was told of each thread, in order; "" is the primary line. */
function byThread(facts: readonly EngineFact[]): Record<string, string[]> {
  const told: Record<string, string[]> = {};
  for (const draft of draftsOf(facts)) {
    const of = "session_thread_id" in draft ? (draft.session_thread_id ?? "") : "";
    (told[of] ??= []).push(draft.type);
  }
  return told;
}

describe("a subagent", () => {
  test("is a thread that names its call, its task and the thread that started it", () => {
    expect(draftsOfType(factsOf(crew), "session.thread_created")).toEqual(
      [
        { session_thread_id: WORKER, agent_name: "worker", call_id: "toolu_first", task: "first", parent: null },
        { session_thread_id: BOSS, agent_name: "boss", call_id: "toolu_second", task: "second", parent: null },
        { session_thread_id: NESTED, agent_name: "worker", call_id: "toolu_nested", task: "nested", parent: BOSS },
      ].map(({ parent, ...named }) => ({
        type: "session.thread_created",
        workflow_run_id: null,
        parent_thread_id: parent,
        ...named,
      })),
    );
  });

  test("has its words, thoughts and calls on its own thread, nested or parallel", () => {
    const worked = ["agent.thinking", "agent.message", "agent.tool_use", "agent.message"];
    expect(byThread(factsOf(crew))).toMatchObject({
      [WORKER]: [
        "session.thread_created",
        ...worked,
        "session.thread_status_idle",
        "session.thread_status_running",
        "agent.message",
        "session.thread_status_idle",
      ],
      [BOSS]: ["session.thread_created", "agent.tool_use", "agent.message", "session.thread_status_idle"],
      [NESTED]: ["session.thread_created", ...worked, "session.thread_status_idle"],
      "": [
        "capstan.prompt_rendered",
        "agent.message",
        "agent.tool_use",
        "agent.tool_use",
        "agent.message",
        "agent.tool_use",
        "agent.message",
      ],
    });
  });

  test("is announced before it says anything", () => {
    const drafts = draftsOf(factsOf(crew));
    for (const id of [WORKER, BOSS, NESTED]) {
      const first = drafts.find((draft) => "session_thread_id" in draft && draft.session_thread_id === id);
      expect(first?.type).toBe("session.thread_created");
    }
  });

  test("gives a result for each call of its own and one for the call that started it", () => {
    const results = factsOf(crew).flatMap((fact) => (fact.kind === "tool_result" ? [fact.callId] : []));
    expect(results.toSorted()).toEqual(
      ["toolu_1", "toolu_2", "toolu_again", "toolu_first", "toolu_nested", "toolu_second"].toSorted(),
    );
  });

  test("is not told its own instructions as if a user had sent them", () => {
    const prompts = crew.filter(
      (message) => message.type === "user" && JSON.stringify(message.message.content).includes('"do it"'),
    );
    expect(prompts).toHaveLength(2);
    for (const prompt of prompts) expect(translate(translator(), prompt).facts).toEqual([]);
  });

  test("that is known from an earlier process is the same thread when it runs again", () => {
    const again = crew.filter((message) => message.type !== "system" || message.subtype !== "init").slice(-40);
    const start = again.findIndex((message) => message.type === "system" && message.subtype === "task_started");
    const known = translator({ agentOfCall: new Map([["toolu_first", { id: "agent1", name: "worker" }]]) });
    expect(byThread(factsOf(again.slice(start), known))[WORKER]).toEqual([
      "session.thread_status_running",
      "agent.message",
      "session.thread_status_idle",
    ]);
  });

  test.each([
    ["two and a nested one, then one again", ["end_turn", "end_turn", "end_turn", "end_turn"]],
    ["one that fails", ["retries_exhausted"]],
    ["one that is interrupted", ["end_turn"]],
  ])("ends with a reason: %s", (name, reasons) => {
    const ended = draftsOfType(factsOf(recording("subagents", name)), "session.thread_status_idle");
    expect(ended.map((draft) => draft.stop_reason.type)).toEqual(reasons);
  });

  test("that fails does not make the turn fail", () => {
    expect(factsOf(recording("subagents", "one that fails")).at(-1)).toMatchObject({
      kind: "turn_ended",
      end: { outcome: "completed" },
    });
  });

  test("that the CLI never announced is still told apart from the primary line", () => {
    const speaking = crew.find((message) => message.type === "assistant" && message.parent_tool_use_id !== null);
    const { facts } = translate(translator(), speaking as Message);
    expect(byThread(facts)).toEqual({ [thread("toolu_first")]: ["agent.thinking"] });
  });

  test("is not what a task without an agent is", () => {
    const [started] = crew.filter((message) => message.type === "system" && message.subtype === "task_started");
    const command = { ...started, subagent_type: undefined, task_type: "local_bash" } as Message;
    expect(translate(translator(), command).facts).toEqual([]);
    const [ended] = crew.filter((message) => message.type === "system" && message.subtype === "task_notification");
    expect(translate(translator(), ended as Message).facts).toEqual([]);
  });
});

describe("a compaction", () => {
  test.each([
    ["on request", { trigger: "manual", tokens_before: 342, tokens_after: 484 }, "SUMMARY: they counted."],
    ["by itself", { trigger: "auto", tokens_before: 990_021, tokens_after: 483 }, "SUMMARY: automatic."],
  ])("%s is told once, when its summary is there", (name, expected, summary) => {
    const recorded = steps(recording("compaction", name));
    const told = draftsOfType(
      recorded.flatMap(({ facts }) => facts),
      "agent.thread_context_compacted",
    );
    expect(told).toMatchObject([{ ...expected, summary: expect.stringContaining(summary) as string }]);
    // The CLI keeps one message word for word: the last answer, or the question it is about to answer.
    expect(told.map(({ kept }) => kept.event_ids.length + kept.message_ids.length)).toEqual([1]);
    const boundary = recorded.find(
      ({ message }) => message.type === "system" && message.subtype === "compact_boundary",
    );
    expect(boundary?.facts).toEqual([]);
  });

  test("on request is a turn of its own that is completed without an answer", () => {
    const recorded = steps(recording("compaction", "on request"), translator({ wantsOutput: true }));
    const told = recorded.findIndex(({ facts }) => draftsOfType(facts, "agent.thread_context_compacted").length > 0);
    const end = recorded.slice(told).find(({ message }) => message.type === "result");
    expect(end?.facts).toMatchObject([{ kind: "turn_ended", end: { outcome: "completed" } }]);
  });

  test("does not swallow the messages after its summary", () => {
    const facts = factsOf(recording("compaction", "by itself"));
    const compacted = facts.findIndex(
      (fact) => fact.kind === "event" && fact.draft.type === "agent.thread_context_compacted",
    );
    expect(draftsOf(facts.slice(compacted + 1)).map(({ type }) => type)).toEqual(["agent.message"]);
  });

  test("of a subagent leaves the primary line as it is", () => {
    const facts = factsOf(recording("subagents", "one that compacts"));
    expect(draftsOfType(facts, "agent.thread_context_compacted")).toEqual([]);
    const results = facts.flatMap((fact) => (fact.kind === "tool_result" ? [fact.callId] : []));
    expect(results).toEqual(["toolu_1", "toolu_first"]);
  });
});
