import { expect, test } from "vitest";
import type { LoggedEvent } from "../../src/client/index.ts";
import { exitCode, reportOf, runningTime, callStateOf } from "../../web/src/session/calls/call-facts.ts";
import { noticeOf } from "../../web/src/session/transcript/notice.ts";
import { previewItems, type Item, transcriptOf, withPreview } from "../../web/src/session/transcript/transcript.ts";
import { EVENT_EXAMPLES } from "../support/event-examples.ts";

type Draft = { readonly type: LoggedEvent["type"] } & Readonly<Record<string, unknown>>;

/** A log of these events, each made of its type's example. */
function log(...drafts: readonly Draft[]): LoggedEvent[] {
  return drafts.map((draft, index) => ({ ...EVENT_EXAMPLES[draft.type], ...draft, seq: index + 1 }) as LoggedEvent);
}

const kinds = (items: readonly Item[]): string[] => items.map(({ kind }) => kind);

test("every event there is can be in a transcript, and none is lost without a reason", () => {
  const events = log(...Object.keys(EVENT_EXAMPLES).map((type) => ({ type: type as LoggedEvent["type"] })));
  const items = transcriptOf(events);
  expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  for (const event of events) expect(noticeOf(event)?.title ?? "none").not.toContain("undefined");
});

test("a call is one item from its request to its result, with who decided and who works for it", () => {
  const [, item] = transcriptOf(
    log(
      { type: "user.message", id: "u" },
      { type: "agent.tool_use", id: "use", call_id: "c" },
      { type: "capstan.approval_requested", call_id: "c", tool_use_id: "use" },
      { type: "user.tool_confirmation", tool_use_id: "use", by: "me", result: "allow" },
      { type: "capstan.permission_decided", call_id: "c", decision: "allow" },
      { type: "session.thread_created", call_id: "c", session_thread_id: "t", agent_name: "worker" },
      { type: "agent.message", session_thread_id: "t" },
      { type: "agent.tool_result", call_id: "c", tool_use_id: "use", outcome: "completed" },
    ),
  );
  expect(item).toMatchObject({ kind: "call", call: { answer: { by: "me" }, thread: { id: "t", agent: "worker" } } });
  expect(item?.kind === "call" && callStateOf(item.call)).toBe("done");
});

test("what a subagent says is on its own line alone", () => {
  const events = log(
    { type: "user.message", id: "u" },
    { type: "agent.message", id: "a", session_thread_id: null },
    { type: "agent.message", id: "b", session_thread_id: "t" },
  );
  expect(transcriptOf(events).map(({ key }) => key)).toEqual(["u", "a"]);
  expect(transcriptOf(events, "t").map(({ key }) => key)).toEqual(["b"]);
});

test("a message that waits is queued, and stands behind what was said until it was taken", () => {
  const events = log(
    { type: "user.message", id: "first" },
    { type: "capstan.input_delivered", event_ids: ["first"] },
    { type: "user.message", id: "second" },
    { type: "agent.message", id: "answer" },
    { type: "capstan.input_delivered", event_ids: ["second"] },
  );
  const waiting = transcriptOf(events.slice(0, 4));
  expect(waiting.map((item) => (item.kind === "user" ? item.isQueued : undefined))).toEqual([false, true, undefined]);
  expect(transcriptOf(events).map(({ key }) => key)).toEqual(["first", "answer", "second"]);
});

test("a message that was withdrawn is gone, with its thinking and its calls", () => {
  const events = log(
    { type: "agent.thinking", id: "t", message_id: "m" },
    { type: "agent.message", id: "a", message_id: "m" },
    { type: "agent.tool_use", id: "c", message_id: "m" },
    { type: "agent.message", id: "b", message_id: "n" },
    { type: "capstan.message_withdrawn", message_id: "m" },
  );
  expect(transcriptOf(events).map(({ key }) => key)).toEqual(["b"]);
});

test("what is being said is shown until it is withdrawn, and words without a beginning are not", () => {
  const start = withPreview(new Map(), { type: "event_start", event: { id: "a", type: "agent.message" } });
  const delta = {
    type: "event_delta",
    event_id: "a",
    delta: { type: "content_delta", content: { type: "text", text: "Hi" } },
  } as const;
  const said = withPreview(withPreview(start, delta), { ...delta, event_id: "unknown" });
  expect(previewItems(said, null)).toMatchObject([{ kind: "agent", text: "Hi", isStreaming: true }]);
  expect(previewItems(withPreview(said, { type: "capstan.event_withdrawn", event_id: "a" }), null)).toEqual([]);
});

test("after a rewind of the conversation, what was said since is marked as taken back", () => {
  const items = transcriptOf(
    log(
      { type: "user.message", id: "kept" },
      { type: "agent.message", id: "gone" },
      { type: "capstan.rewound", id: "rewound", to_seq: 1 },
    ),
  );
  expect(items.map(({ key, takenBack = false }) => [key, takenBack])).toEqual([
    ["kept", false],
    ["gone", true],
    ["rewound", false],
  ]);
});

test("a rewind that is undone gives back what it took, and only that", () => {
  const items = transcriptOf(
    log(
      { type: "user.message", id: "one" },
      { type: "agent.message", id: "two" },
      { type: "capstan.rewound", id: "back", to_seq: 1 },
      { type: "agent.message", id: "three" },
      { type: "capstan.rewound", id: "again", to_seq: 2 },
    ),
  );
  const taken = items.filter(({ takenBack }) => takenBack === true).map(({ key }) => key);
  expect(taken).toEqual(["back", "three"]);
});

function usageEvent(usd: number): Draft {
  return { type: "session.usage", usage: { ...EVENT_EXAMPLES["session.usage"].usage, usd } };
}

function ends(from: readonly LoggedEvent[]) {
  return transcriptOf(from).map((item) => item.kind === "end" && [item.before?.usd, item.usage?.usd]);
}

test("the end of a turn knows what it used when the turn before is in sight", () => {
  const events = log(usageEvent(1), { type: "session.status_idle" }, usageEvent(3), { type: "session.status_idle" });
  expect(ends(events)).toEqual([
    [0, 1],
    [1, 3],
  ]);
  // Of a log whose beginning is not loaded, nobody knows.
  expect(ends(events.slice(2))).toEqual([[undefined, 3]]);
  expect(
    kinds(transcriptOf(log({ type: "session.status_idle", stop_reason: { type: "requires_action", event_ids: [] } }))),
  ).toEqual([]);
});

test("running times are never negative, whatever the clocks say", () => {
  const [item] = transcriptOf(
    log(
      { type: "agent.tool_use", id: "use", call_id: "c" },
      { type: "capstan.permission_decided", call_id: "c", decision: "allow" },
    ),
  );
  expect(item?.kind === "call" && runningTime(item.call, 0)).toBe(0);
});

test("the exit code of a command and the report of a subagent are told from what surrounds them", () => {
  expect(exitCode("Exit code 3\nno such file")).toEqual({ code: 3, output: "no such file" });
  expect(exitCode("all well")).toEqual({ output: "all well" });
  expect(reportOf("[Subagent hand-back] … The report follows:\n  It is right.\nagentId: 1 (…)\n<usage>x</usage>")).toBe(
    "It is right.",
  );
  expect(reportOf("plain")).toBe("plain");
});
