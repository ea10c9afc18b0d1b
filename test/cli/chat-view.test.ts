import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { Page } from "../../src/cli/chat/view/page.ts";
import { ChatView } from "../../src/cli/chat/view/view.ts";
import type { EventOf, EventType, Preview } from "../../src/core/events/events.ts";
import { REWIND_NOTE } from "../../src/core/text/text.ts";
import { EVENT_EXAMPLES, example } from "../support/event-examples.ts";

/** A view of 60 columns, and what it printed. */
function openView(options: { readonly isPlain?: boolean } = {}): {
  readonly view: ChatView;
  readonly printed: string[];
  readonly tell: <T extends EventType>(type: T, more?: Partial<EventOf<T>>) => void;
  readonly preview: (item: Preview) => void;
} {
  const printed: string[] = [];
  let seq = 0;
  const print = (lines: readonly string[]): void => void printed.push(...lines.map(stripVTControlCharacters));
  const view = new ChatView(new Page({ print, width: () => 60 }), options);
  return {
    view,
    printed,
    tell(type, more) {
      seq += 1;
      view.show({ ...example(type, more), seq });
    },
    preview: (item) => view.show(item),
  };
}

const text = (value: string): { content: [{ type: "text"; text: string }] } => ({
  content: [{ type: "text", text: value }],
});
const delta = (id: string, value: string): Preview => ({
  type: "event_delta",
  event_id: id,
  delta: { type: "content_delta", content: { type: "text", text: value } },
});
const live = (lines: readonly string[]): string[] => lines.map(stripVTControlCharacters);

test("a turn: what was asked, the calls folded to a line, the answer as it comes and once", () => {
  const { view, printed, tell, preview } = openView();
  tell("user.message", { id: "m1", ...text("Read a.txt.") });
  tell("session.status_running");
  tell("agent.tool_use");
  expect(live(view.work({ width: 60, now: Date.parse("2026-01-02T03:04:07Z"), mark: "*", isTalking: false }))).toEqual([
    "",
    "* Read a.txt 2 s",
  ]);
  tell("agent.tool_result");
  preview({ type: "event_start", event: { id: "a1", type: "agent.message" } });
  preview(delta("a1", "It says **hel"));
  expect(live(view.tail(60))).toEqual(["", "It says hel"]);
  preview(delta("a1", "lo**.\n\nAnd"));
  view.settle();
  tell("agent.message", { id: "a1", ...text("It says **hello**.\n\nAnd more.") });
  tell("session.status_idle");
  const answer = ["It says hello.", "", "And more.", "", "{", '  "answer": 42', "}"];
  expect(printed).toEqual(["> Read a.txt.", "", "✓ Read a.txt 0 ms", "", ...answer]);
  expect(view.tail(60)).toEqual([]);
});

test("a message that is said while the agent works waits in the queue until the model has got it", () => {
  const { view, printed, tell } = openView();
  tell("user.message", { id: "m1", ...text("one") });
  tell("session.status_running");
  tell("user.message", { id: "m2", ...text("two\nlines") });
  expect(live(view.queuedLines(60))).toEqual(["» two lines (queued)"]);
  expect(view.waiting).toBe(1);
  tell("user.interrupt");
  tell("session.status_idle");
  expect(live(view.queuedLines(60))).toEqual(["» two lines (sent with your next message)"]);
  tell("user.message", { id: "m3", ...text("three") });
  tell("capstan.input_delivered", { event_ids: ["m2"] });
  tell("capstan.input_delivered", { event_ids: ["m3"] });
  expect(view.queuedLines(60)).toEqual([]);
  expect(printed.filter((line) => line.startsWith("> "))).toEqual(["> one", "> two", "> three"]);
});

test("what was said is shown as it was written: a command as a command, without what the session adds", () => {
  const { printed, tell } = openView();
  tell("user.message", { id: "m1", ...text("Read all of it."), command: "/tidy all" });
  const long = "a message of so many words that they do not fit into a line of sixty columns";
  tell("user.message", { id: "m2", content: [...text(long).content, ...text(REWIND_NOTE).content] });
  expect(printed).toEqual([
    "> /tidy all",
    "",
    "> a message of so many words that they do not fit into a",
    "  line of sixty columns",
  ]);
});

test("a turn seems to end with the model's last words, not with a call, nor with a subagent's", () => {
  const { view, tell } = openView();
  tell("session.status_running");
  tell("span.model_request_end", { stop_reason: "tool_use", session_thread_id: null });
  expect(view.isEnding).toBe(false);
  tell("span.model_request_end", { stop_reason: "end_turn", session_thread_id: "t1" });
  expect(view.isEnding).toBe(false);
  tell("span.model_request_end", { stop_reason: "end_turn", session_thread_id: null });
  expect(view.isEnding).toBe(true);
  tell("span.model_request_start", { session_thread_id: null });
  expect(view.isEnding).toBe(false);
  tell("user.interrupt");
  expect(view.isEnding).toBe(true);
});

test("what a subagent does stands below its own call, when that is over", () => {
  const { view, printed, tell } = openView();
  const inner = { session_thread_id: "t1", call_id: "c2" };
  tell("session.status_running");
  tell("agent.tool_use", { call_id: "c1", name: "Agent", input: { description: "Look around" } });
  tell("session.thread_created", { session_thread_id: "t1", call_id: "c1" });
  tell("agent.tool_use", { ...inner, name: "Bash", input: { command: "ls" } });
  expect(live(view.work({ width: 60, now: 0, mark: "*", isTalking: false }))).toEqual([
    "* Agent Look around",
    "  * Bash ls",
  ]);
  tell("agent.tool_result", { ...inner, outcome: "failed", ...text("no such directory") });
  tell("agent.message", { ...text("I looked."), session_thread_id: "t1" });
  expect(printed).toEqual([]);
  tell("agent.tool_result", { call_id: "c1" });
  expect(printed).toEqual(["✓ Agent Look around 0 ms", "  ✗ Bash ls failed 0 ms", "    no such directory"]);
});

test("calls can be unfolded, then and from then on, with nothing in them that steers the terminal", () => {
  const { view, printed, tell } = openView();
  const run = (id: string): void => {
    tell("agent.tool_use", { call_id: id, name: "Bash", input: { command: "echo \u001B[2J" } });
    tell("agent.tool_result", { call_id: id, ...text("one\n\u001B[31mtwo") });
  };
  run("c1");
  expect(printed.splice(0)).toEqual([String.raw`✓ Bash echo \u{1b}[2J 0 ms`]);
  view.unfold();
  const unfolded = [
    String.raw`✓ Bash echo \u{1b}[2J 0 ms`,
    String.raw`  › command: "echo \\e[2J"`.replace("\\\\", "\\"),
    "  │ one",
    String.raw`  │ \u{1b}[31mtwo`,
  ];
  expect(printed.splice(0)).toEqual(expect.arrayContaining(unfolded));
  run("c2");
  expect(printed.splice(0)).toEqual(unfolded);
  view.unfold();
  printed.splice(0);
  run("c3");
  expect(printed).toHaveLength(2);
});

test("a request that failed leaves the context as it was", () => {
  const { view, tell } = openView();
  const none = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  tell("span.model_request_end", { session_thread_id: null, model_usage: { ...none, input_tokens: 70 } });
  tell("span.model_request_end", { session_thread_id: null, model_usage: none, is_error: true });
  expect(view.meter.context).toBe(70);
});

test("what goes wrong is said in words", () => {
  const { printed, tell, preview } = openView();
  preview({ type: "event_start", event: { id: "a1", type: "agent.message" } });
  preview(delta("a1", "I was ab"));
  tell("capstan.process_lost", { reason: "It was killed." });
  preview({ type: "capstan.event_withdrawn", event_id: "a1" });
  tell("session.status_idle", { stop_reason: { type: "refusal" } });
  expect(printed.join(" ")).toContain("! It was killed.");
  expect(printed.join(" ")).toContain("I was ab  (interrupted; retrying)");
  expect(printed.join(" ")).toContain("The model refused the request.");
});

test("a message that is told from its start again is not printed again, and goes on where it was", () => {
  const { view, printed, tell, preview } = openView();
  const start = { type: "event_start", event: { id: "a1", type: "agent.message" } } as const;
  preview(start);
  preview(delta("a1", "One.\n\nTwo"));
  view.settle();
  preview(start);
  preview(delta("a1", "One"));
  preview(delta("a1", ".\n\nTwo, three.\n\n"));
  preview(delta("a1", "Four"));
  view.settle();
  expect(live(view.tail(60)).join(" ")).toContain("Four");
  tell("agent.message", { id: "a1", ...text("One.\n\nTwo, three.\n\nFour.") });
  expect(printed.filter((line) => line !== "")).toEqual(["One.", "Two, three.", "Four."]);
});

test("text that comes otherwise than it was announced is printed as it is stored", () => {
  const { printed, tell, preview } = openView();
  preview({ type: "event_start", event: { id: "a1", type: "agent.message" } });
  preview(delta("a1", "the key is sk-1"));
  tell("agent.message", { id: "a1", ...text("the key is [redacted:key]") });
  expect(printed).toContain("the key is [redacted:key]");
});

test("for a pipe the answer is printed as the model wrote it", () => {
  const { printed, tell } = openView({ isPlain: true });
  tell("agent.message", { ...text("# Title\n\n- **one**\u001B[2J\n") });
  expect(printed).toEqual(["# Title", "", "- **one**\\u{1b}[2J"]);
});

test("every event can be shown, and none prints what steers a terminal", () => {
  const { printed, tell } = openView();
  for (const type of Object.keys(EVENT_EXAMPLES) as EventType[]) tell(type);
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  for (const line of printed) expect(line).not.toMatch(/[\u0000-\u001F]/);
});
