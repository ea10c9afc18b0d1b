import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageContent, ToolContent } from "../../src/core/events/content.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { type HistoryItem, historyOf, type ModelBlock } from "../../src/core/session/history.ts";
import { example } from "../support/event-examples.ts";
import { fold, validLogs } from "../support/event-logs.ts";

const words = (text: string): MessageContent => [{ type: "text", text }];
const arrives = (id: string): SessionEvent => example("user.message", { id, content: words(id) });
const delivered = (...event_ids: string[]): SessionEvent => example("capstan.input_delivered", { event_ids });
const says = (message_id: string, text: string): SessionEvent =>
  example("agent.message", { message_id, content: [{ type: "text", text }] });
const calls = (message_id: string, call_id: string): SessionEvent =>
  example("agent.tool_use", { message_id, call_id, engine_name: "Read", input: {} });
const returns = (call_id: string): SessionEvent =>
  example("agent.tool_result", { call_id, content: [{ type: "text", text: `result of ${call_id}` }] });
const compacted = (summary: string): SessionEvent => example("agent.thread_context_compacted", { summary });
const withdrawn = (message_id: string): SessionEvent => example("capstan.message_withdrawn", { message_id });
const onThread = <Event extends SessionEvent>(event: Event): Event => ({
  ...event,
  session_thread_id: "sthr_1_worker",
});

const user = (id: string): HistoryItem => ({ kind: "user", eventId: id, content: words(id) });
const text = (value: string): ModelBlock => ({ kind: "text", text: value });
const call = (callId: string): ModelBlock => ({ kind: "call", callId, name: "Read", input: {} });
const model = (messageId: string, blocks: readonly ModelBlock[], results: readonly string[] = []): HistoryItem => ({
  kind: "model",
  messageId,
  blocks,
  results: results.map((callId) => ({
    callId,
    content: [{ type: "text", text: `result of ${callId}` }] satisfies ToolContent,
    isError: false,
  })),
});
const IMAGES: ToolContent = [
  { type: "image", source: { type: "base64", media_type: "image/png", data: "aW1hZ2U=" } },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "Dear all" } },
];
const summary = (value: string): HistoryItem => ({ kind: "summary", text: value, kept: [] });

describe("the history of a session", () => {
  test.each<[string, readonly SessionEvent[], readonly HistoryItem[]]>([
    ["is empty before anything was said", [], []],
    ["leaves out a message that was not delivered", [arrives("u1")], []],
    [
      "has messages in the order of their delivery",
      [arrives("u1"), arrives("u2"), arrives("u3"), delivered("u3"), delivered("u1", "u2")],
      [user("u3"), user("u1"), user("u2")],
    ],
    [
      "has a question and its answer",
      [arrives("u1"), delivered("u1"), says("m1", "a1")],
      [user("u1"), model("m1", [text("a1")])],
    ],
    [
      "keeps the blocks of one message together and in order",
      [
        example("agent.thinking", { message_id: "m1", thinking: "hm", signature: "s" }),
        says("m1", "a1"),
        calls("m1", "c1"),
      ],
      [model("m1", [{ kind: "thinking", thinking: "hm", signature: "s" }, text("a1"), call("c1")])],
    ],
    [
      "keeps two messages apart",
      [says("m1", "a1"), says("m2", "a2")],
      [model("m1", [text("a1")]), model("m2", [text("a2")])],
    ],
    [
      "gathers blocks that stand between the results of their message",
      [calls("m1", "c1"), returns("c1"), says("m1", "meanwhile"), calls("m1", "c2"), returns("c2"), says("m2", "done")],
      [model("m1", [call("c1"), text("meanwhile"), call("c2")], ["c1", "c2"]), model("m2", [text("done")])],
    ],
    [
      "has results with the message that called, in the order they came",
      [calls("m1", "c1"), calls("m1", "c2"), returns("c2"), returns("c1")],
      [model("m1", [call("c1"), call("c2")], ["c2", "c1"])],
    ],
    [
      "has a message that was delivered during a call after that call",
      [calls("m1", "c1"), arrives("u2"), delivered("u2"), returns("c1")],
      [model("m1", [call("c1")], ["c1"]), user("u2")],
    ],
    [
      "has MCP calls by the engine's name, with their errors",
      [
        example("agent.mcp_tool_use", { message_id: "m1", call_id: "c1", engine_name: "mcp__x__y", input: { a: 1 } }),
        example("agent.mcp_tool_result", { call_id: "c1", content: undefined, is_error: true }),
      ],
      [
        {
          kind: "model",
          messageId: "m1",
          blocks: [{ kind: "call", callId: "c1", name: "mcp__x__y", input: { a: 1 } }],
          results: [{ callId: "c1", content: [], isError: true }],
        },
      ],
    ],
    [
      "has the results that clients gave of custom calls, with all their blocks",
      [
        example("agent.custom_tool_use", { id: "e1", message_id: "m1", call_id: "c1", engine_name: "Read", input: {} }),
        example("agent.custom_tool_use", { id: "e2", message_id: "m1", call_id: "c2", engine_name: "Read", input: {} }),
        example("user.custom_tool_result", { custom_tool_use_id: "e2", content: IMAGES, call_id: undefined }),
        example("user.custom_tool_result", { custom_tool_use_id: "e1", content: undefined, is_error: true }),
        example("user.custom_tool_result", { custom_tool_use_id: "e3" }),
      ],
      [
        {
          kind: "model",
          messageId: "m1",
          blocks: [call("c1"), call("c2")],
          results: [
            { callId: "c2", content: IMAGES, isError: false },
            { callId: "c1", content: [], isError: true },
          ],
        },
      ],
    ],
    [
      "takes an event without a message for a message of its own",
      [
        example("agent.message", { id: "e1", message_id: undefined, content: [{ type: "text", text: "a1" }] }),
        example("agent.message", { id: "e2", message_id: undefined, content: [{ type: "text", text: "a2" }] }),
      ],
      [model("e1", [text("a1")]), model("e2", [text("a2")])],
    ],
    ["leaves out what was redacted", [example("agent.message", { content: [{ type: "redacted" }] })], []],
    ["leaves out a result without its call", [returns("c1")], []],
    [
      "leaves out what subagents did",
      [
        calls("m1", "c1"),
        onThread(says("m2", "mine")),
        onThread(calls("m2", "c2")),
        onThread(returns("c2")),
        onThread(compacted("of the subagent")),
        returns("c1"),
      ],
      [model("m1", [call("c1")], ["c1"])],
    ],
    [
      "has a summary in place of all that was compacted",
      [arrives("u1"), delivered("u1"), says("m1", "a1"), compacted("s1"), arrives("u2"), delivered("u2")],
      [summary("s1"), user("u2")],
    ],
    ["has the last summary only", [compacted("s1"), says("m1", "a1"), compacted("s2")], [summary("s2")]],
    [
      "has a message after the compaction during which it waited",
      [arrives("u1"), compacted("s1"), delivered("u1")],
      [summary("s1"), user("u1")],
    ],
    [
      "leaves out the result of a call that was compacted",
      [calls("m1", "c1"), compacted("s1"), returns("c1")],
      [summary("s1")],
    ],
    [
      "leaves out a message that was withdrawn, with its results",
      [
        arrives("u1"),
        delivered("u1"),
        says("m1", "a1"),
        calls("m1", "c1"),
        withdrawn("m1"),
        returns("c1"),
        says("m2", "a2"),
      ],
      [user("u1"), model("m2", [text("a2")])],
    ],
    [
      "is not touched by the withdrawal of a message it does not have",
      [says("m1", "a1"), withdrawn("m2")],
      [model("m1", [text("a1")])],
    ],
  ])("%s", (_what, events, expected) => {
    expect(historyOf(events)).toEqual(expected);
  });

  test("is the same read from where the state says as read from the start", () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        const tail = log.slice(Math.max(0, fold(log).historyFrom - 1));
        expect(historyOf(tail)).toEqual(historyOf(log));
      }),
      { numRuns: 300 },
    );
  });
});
