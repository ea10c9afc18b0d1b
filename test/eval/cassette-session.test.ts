import { expect, test } from "vitest";
import type { LoggedEvent, SessionEvent } from "../../src/core/events/events.ts";
import { PLAIN_SESSION, type SessionRecord } from "../../src/core/ports/store.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { recordedAnswers } from "../../src/eval/trial/session-answers.ts";
import { otherOutcomes, sessionCase } from "../../src/eval/session-case.ts";
import { saidIn } from "../../src/eval/session-threads.ts";
import { cassetteFromSaid } from "../../src/gateway/cassette/cassette-from-session.ts";
import { example } from "../support/event-examples.ts";

const USAGE = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const AGENT = "a0123456789abcdef";
const THREAD = `sthr_1_${AGENT}`;

function request(id: string, more: object = {}): [SessionEvent, SessionEvent] {
  return [
    example("span.model_request_start", { id, ...more }),
    example("span.model_request_end", {
      model_request_start_id: id,
      is_error: false,
      http_status: 200,
      stop_reason: "end_turn",
      model_usage: USAGE,
      ...more,
    }),
  ];
}

const failed = { is_error: true, http_status: 529, stop_reason: null };

test("answers are those of the log, with failures between them and without what was withdrawn", () => {
  const [begun, ended] = request("s2", { stop_reason: "tool_use" });
  const [cut, gone] = request("s3", { http_status: null, stop_reason: null, is_error: true });
  const said = saidIn([
    ...request("s1", failed),
    begun,
    // The blocks of an answer may be told before its end.
    example("agent.thinking", { message_id: "m1", thinking: "Hm.", signature: "s" }),
    example("agent.message", { message_id: "m1", content: [{ type: "text", text: "I ask." }] }),
    example("agent.tool_use", {
      message_id: "m1",
      call_id: "toolu_1",
      name: "Agent",
      input: { prompt: "Look in /w." },
    }),
    ended,
    example("session.thread_created", { session_thread_id: THREAD, call_id: "toolu_1" }),
    ...request("s4", { session_thread_id: THREAD, request_class: "subagent" }),
    example("agent.message", {
      session_thread_id: THREAD,
      message_id: "m2",
      content: [{ type: "text", text: "In /w there is nothing." }],
    }),
    cut,
    example("agent.message", { message_id: "m3", content: [{ type: "text", text: "Half a" }] }),
    example("capstan.message_withdrawn", { message_id: "m3" }),
    gone,
    ...request("s5"),
    example("agent.message", { message_id: "m4", content: [{ type: "text", text: `Ask ${AGENT} in /w.` }] }),
  ]);
  expect(said.map(({ thread, task, answers }) => [thread, task, answers.map(({ kind }) => kind)])).toEqual([
    ["main", undefined, ["error", "message", "message"]],
    ["agent-1", "Look in /w.", ["message"]],
  ]);
  expect(said[0]?.answers[1]).toMatchObject({
    message: { stop_reason: "tool_use", content: [{ type: "thinking" }, { type: "text" }, { type: "tool_use" }] },
  });
  const about = { suite: "s", case: "c", recorded: { at: "", capstan: "", sdk: "", agent: "" } };
  const { threads } = cassetteFromSaid(said, { WORKSPACE: "/w" }, about);
  expect(JSON.stringify(threads)).not.toContain("/w");
  expect(threads[0]?.exchanges[2]?.answer).toMatchObject({
    message: { content: [{ type: "text", text: "Ask ${agent-1} in ${WORKSPACE}." }] },
  });
  expect(threads[1]?.exchanges[0]?.news).toEqual([
    { role: "user", content: [{ type: "text", text: "Look in ${WORKSPACE}." }] },
  ]);
});

function approvalEvents(
  id: string,
  tool: string,
  answer: object | undefined,
  kind: "tool" | "plan" | "question" = "tool",
) {
  return [
    example("capstan.approval_requested", { approval_id: id, tool, kind }),
    ...(answer === undefined
      ? []
      : [example("user.tool_confirmation", { approval_id: id, deny_message: null, ...answer })]),
  ];
}

test("what was answered alike is one answer; other answers keep their order; grants and silence are answers too", () => {
  expect(
    recordedAnswers([
      ...approvalEvents("1", "Write", { result: "allow" }),
      ...approvalEvents("2", "Write", { result: "allow" }),
      ...approvalEvents("3", "Bash", { result: "allow" }),
      ...approvalEvents("4", "Bash", { result: "deny", deny_message: "Not that." }),
      ...approvalEvents("5", "AskUserQuestion", { result: "allow", answers: { "Which?": "this" } }, "question"),
      ...approvalEvents("6", "ExitPlanMode", { result: "deny", deny_message: "Shorter." }, "plan"),
      ...approvalEvents("7", "Edit", undefined),
      example("capstan.permission_decided", { tool: "Fetch", decision: "allow", decided_by: "grant:g1" }),
    ]),
  ).toEqual([
    { tool: "Write", decision: "allow" },
    { tool: "Bash", decision: "allow", times: 1 },
    { tool: "Bash", decision: "deny", message: "Not that.", times: 1 },
    { question: "Which?", answer: "this" },
    { plan: "deny", message: "Shorter." },
    { tool: "Edit", decision: "deny" },
    { tool: "Fetch", decision: "allow" },
  ]);
});

const RECORD: SessionRecord = {
  ...PLAIN_SESSION,
  id: "sesn_1",
  createdAt: 0,
  project: "default",
  agent: parseAgent({ name: "worker", model: "claude-opus-4-8" }),
  environment: parseEnvironment({}),
  cwd: "/w",
  source: "/w",
  title: null,
  forkedFrom: null,
};
const IDLE = example("session.status_idle");
const SAID = example("user.message");

function toLogged(events: readonly SessionEvent[]): LoggedEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

test.each<[string, readonly SessionEvent[], Partial<SessionRecord>]>([
  ["it has no messages", [], {}],
  ["it is a fork", [SAID, IDLE], { forkedFrom: { sessionId: "sesn_0", seq: 1 } }],
  ["a program gave it its own tools", [SAID, IDLE], { ownProgram: true }],
  ["it is still running", [SAID, example("session.status_running")], {}],
  [
    "it is waiting for an answer",
    [SAID, example("session.status_idle", { stop_reason: { type: "requires_action", event_ids: [] } })],
    {},
  ],
  ["a message arrived while the agent was working", [SAID, example("session.status_running"), SAID, IDLE], {}],
  ["it was interrupted", [SAID, example("user.interrupt"), IDLE], {}],
  ["its conversation was compacted", [SAID, example("agent.thread_context_compacted"), IDLE], {}],
  ["a client returned the results", [SAID, example("agent.custom_tool_use"), IDLE], {}],
  ["its files were rewound", [SAID, example("capstan.rewound"), IDLE], {}],
  ["its model, mode or engine was changed", [SAID, example("capstan.mode_changed"), IDLE], {}],
  ["its model, mode or engine was changed", [SAID, example("capstan.engine_changed"), IDLE], {}],
  ["the MCP server files asked", [SAID, example("capstan.approval_requested", { server: "files" }), IDLE], {}],
  ["it sent a side request to a model", [SAID, ...request("s1", { request_class: "auxiliary" }), IDLE], {}],
  [
    "a secret was redacted from its log",
    [SAID, ...request("s1"), example("agent.message", { content: [{ type: "text", text: "[redacted:token]" }] }), IDLE],
    {},
  ],
])("a session cannot become a case when %s", (why, events, more) => {
  expect(() => sessionCase({ ...RECORD, ...more }, toLogged(events))).toThrow(
    `Session sesn_1 cannot become a case: ${why}`,
  );
});

test("a slash command is said again as it was written", () => {
  const command = example("user.message", { command: "/review src", content: [{ type: "text", text: "Long words." }] });
  expect(sessionCase(RECORD, toLogged([command, IDLE])).turns).toEqual(["/review src"]);
});

test("calls that end otherwise are told by their line", () => {
  const call = { id: "1", tool: "Read", input: {}, result: "", by: "main", outcome: "completed" } as const;
  expect(otherOutcomes([call, { ...call, by: "left" }], [{ ...call, outcome: "failed" }])).toEqual([
    "call 1 of main (Read): completed in the session, failed now",
    "call 1 of left (Read): completed in the session, no outcome now",
  ]);
});
