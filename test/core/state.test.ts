import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventType, SessionEvent } from "../../src/core/events/events.ts";
import { initialState, reduce, type SessionState } from "../../src/core/session/state.ts";
import { EVENT_EXAMPLES, example } from "../support/event-examples.ts";
import { fold, validLogs } from "../support/event-logs.ts";

/** As the store gives a snapshot back. */
function restoreState(state: SessionState): SessionState {
  return JSON.parse(JSON.stringify(state)) as SessionState;
}

const running = example("session.status_running");
const idle = example("session.status_idle");
const asked = example("agent.tool_use");
const allowed = example("capstan.permission_decided");
const answered = example("agent.tool_result");
const message = (id: string): SessionEvent => example("user.message", { id });
const delivered = (...event_ids: string[]): SessionEvent => example("capstan.input_delivered", { event_ids });
const customAsked = example("agent.custom_tool_use");
const created = example("session.thread_created");
const compacted = example("agent.thread_context_compacted");
const open = { eventId: "sevt_07", type: "agent.tool_use", name: "Read", threadId: null, reason: "" };

describe("the state of a session", () => {
  test.each<[string, readonly SessionEvent[], Partial<SessionState>]>([
    ["is idle before anything happened", [], { status: "idle", turns: 0 }],
    ["is running during a turn, which counts", [running], { status: "running", turns: 1 }],
    ["is idle after a turn, for its reason", [running, idle], { status: "idle", stopReason: { type: "end_turn" } }],
    ["counts every turn", [running, idle, running, idle, running], { turns: 3 }],
    [
      "is rescheduling between two attempts",
      [running, example("session.status_rescheduled")],
      { status: "rescheduling" },
    ],
    [
      "counts a turn that went on after a crash once",
      [running, example("session.status_rescheduled"), running],
      { status: "running", turns: 1 },
    ],
    ["is terminated in the end", [example("session.status_terminated")], { status: "terminated" }],
    [
      "lists messages that wait, oldest first",
      [message("a"), message("b"), message("c"), delivered("b")],
      {
        undelivered: [
          { id: "a", seq: 1 },
          { id: "c", seq: 3 },
        ],
      },
    ],
    ["has no message waiting after delivery", [message("a"), message("b"), delivered("a", "b")], { undelivered: [] }],
    [
      "has a call open until its outcome",
      [asked],
      { toolCalls: 0, openCalls: { toolu_1: { ...open, decision: "none" } as const } as SessionState["openCalls"] },
    ],
    [
      "knows that an open call was allowed",
      [asked, allowed],
      {
        toolCalls: 1,
        openCalls: {
          toolu_1: { ...open, decision: "allowed", reason: "A rule allows Read." },
        } as SessionState["openCalls"],
      },
    ],
    [
      "knows why an open call was denied",
      [asked, example("capstan.permission_decided", { decision: "deny", reason: "Not here." })],
      { openCalls: { toolu_1: { ...open, decision: "denied", reason: "Not here." } } as SessionState["openCalls"] },
    ],
    [
      "knows the thread of an open call",
      [example("agent.tool_use", { session_thread_id: "sthr_9" })],
      { openCalls: { toolu_1: { ...open, threadId: "sthr_9", decision: "none" } } as SessionState["openCalls"] },
    ],
    ["still counts a call after its outcome", [asked, allowed, answered], { toolCalls: 1, openCalls: {} }],
    ["closes an MCP call", [example("agent.mcp_tool_use"), example("agent.mcp_tool_result")], { openCalls: {} }],
    ["closes a custom call by its event", [customAsked, example("user.custom_tool_result")], { openCalls: {} }],
    ["ignores decisions and outcomes of calls it does not know", [allowed, answered], { toolCalls: 0, openCalls: {} }],
    [
      "adds up what the model requests cost",
      [example("span.model_request_end"), example("span.model_request_end")],
      {
        usd: 0.016,
        usage: {
          input_tokens: 2400,
          output_tokens: 160,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 8,
        },
      },
    ],
    ["counts tokens of a model without a price", [example("span.model_request_end", { usd: null })], { usd: 0 }],
    [
      "knows its threads",
      [created],
      {
        threads: { sthr_1_worker: { agentName: "worker", parentThreadId: null, callId: "toolu_2", status: "running" } },
      },
    ],
    [
      "follows a thread to its end",
      [created, example("session.thread_status_idle"), example("session.thread_status_terminated")],
      {
        threads: {
          sthr_1_worker: { agentName: "worker", parentThreadId: null, callId: "toolu_2", status: "terminated" },
        },
      },
    ],
    [
      "follows a thread that is taken up again",
      [created, example("session.thread_status_idle"), example("session.thread_status_running")],
      {
        threads: { sthr_1_worker: { agentName: "worker", parentThreadId: null, callId: "toolu_2", status: "running" } },
      },
    ],
    ["ignores the status of a thread it does not know", [example("session.thread_status_idle")], { threads: {} }],
    ["has a history from the last compaction on", [running, compacted, idle, compacted], { historyFrom: 4 }],
    [
      "has a history from before the compaction while a message waits",
      [running, message("a"), compacted],
      { historyFrom: 2 },
    ],
    [
      "is not compacted with a subagent",
      [running, created, example("agent.thread_context_compacted", { session_thread_id: "sthr_1_worker" })],
      { historyFrom: 0 },
    ],
    ["has the model of the last prompt", [example("capstan.prompt_rendered")], { model: "claude-opus-4-8" }],
    [
      "has the model it was changed to",
      [example("capstan.prompt_rendered"), example("capstan.model_changed")],
      { model: "claude-haiku-4-5" },
    ],
    ["has the mode it was changed to", [example("capstan.mode_changed")], { mode: "plan" }],
  ])("%s", (_what, events, expected) => {
    expect(fold(events)).toMatchObject(expected);
    // `toMatchObject` lets further keys in records pass.
    for (const key of ["openCalls", "threads"] as const)
      if (expected[key] !== undefined) expect(fold(events)[key]).toEqual(expected[key]);
  });

  test.each<EventType>([
    "agent.message",
    "agent.thinking",
    "user.interrupt",
    "user.tool_confirmation",
    "session.error",
    "session.usage",
    "session.updated",
    "capstan.session_archived",
    "capstan.tool_progress",
    "capstan.limit_reached",
    "capstan.process_started",
    "capstan.process_lost",
    "capstan.message_withdrawn",
    "capstan.session_forked",
    "capstan.inputs_given",
    "capstan.project_file_found",
    "capstan.configuration_changed",
  ])("is not touched by %s", (type) => {
    expect(reduce(initialState, EVENT_EXAMPLES[type], 1)).toBe(initialState);
  });
});

describe("any valid log", () => {
  test("folds to the same state from a stored snapshot and the tail as from the start", () => {
    fc.assert(
      fc.property(validLogs, fc.nat(60), (log, cut) => {
        const head = log.slice(0, cut);
        const snapshot = { seq: head.length, state: restoreState(fold(head)) };
        expect(fold(log.slice(cut), snapshot)).toEqual(fold(log));
      }),
    );
  });

  test("folds without changing an earlier state", () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        let state = initialState;
        for (const [index, event] of log.entries()) {
          const before = JSON.stringify(state);
          const next = reduce(state, event, index + 1);
          expect(JSON.stringify(state)).toBe(before);
          state = next;
        }
      }),
    );
  });

  test("accounts for every turn, call, message and dollar", () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        const state = fold(log);
        const count = (...types: EventType[]): number => log.filter(({ type }) => types.includes(type)).length;
        const uses = count("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use");
        const results = count("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result");
        const allowances = log.filter(
          (event) => event.type === "capstan.permission_decided" && event.decision === "allow",
        );
        expect(state.toolCalls).toBe(allowances.length);
        expect(Object.keys(state.openCalls)).toHaveLength(uses - results);
        expect(state.undelivered).toHaveLength(count("user.message") - count("capstan.input_delivered"));
        expect(state.turns).toBe(count("session.status_idle") + (state.status === "idle" ? 0 : 1));
        const usd = log.map((event) => (event.type === "span.model_request_end" ? (event.usd ?? 0) : 0));
        expect(state.usd).toBeCloseTo(usd.reduce((sum, next) => sum + next, 0));
      }),
    );
  });
});
