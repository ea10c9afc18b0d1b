import { expect, test } from "vitest";
import { doerOf, groupOf, GROUPS, threadNames, threadOf, typesOf } from "../../web/src/audit/groups.ts";
import { summaryOf } from "../../web/src/audit/summary.ts";
import type { EventType } from "../../src/core/events/events.ts";
import { EVENT_EXAMPLES, example } from "../support/event-examples.ts";

const all = Object.values(EVENT_EXAMPLES).map((event, index) => ({ ...event, seq: index + 1 }));

test("every type of event is told on one line, in words that are not its type", () => {
  for (const event of all) {
    const { text, said } = summaryOf(event);
    expect(text, event.type).not.toContain(event.type);
    expect(`${text} ${said ?? ""}`, event.type).not.toMatch(/undefined|\[object|NaN|\n/);
    expect(text.length, event.type).toBeGreaterThan(3);
  }
});

function line(type: EventType): string {
  const { text, said } = summaryOf({ ...example(type), seq: 1 });
  return said === undefined ? text : `${text} | ${said}`;
}

test("what matters in an audit is in the line", () => {
  expect(line("user.message")).toBe("Message | Read a.txt.");
  expect(line("agent.tool_use")).toBe("Calls Read | a.txt");
  expect(line("agent.mcp_tool_use")).toBe("Calls Read of files | a.txt");
  expect(line("agent.tool_result")).toBe("Result | contents");
  expect(line("capstan.permission_decided")).toBe("Read allowed by rule:allow Read | A rule allows Read.");
  expect(line("capstan.approval_requested")).toBe("Asks for approval | Run make");
  expect(line("user.tool_confirmation")).toBe("Denied the call, from cli | Not this file.");
  expect(line("span.model_request_end")).toBe("claude-opus-4-8 answered: 1,234 tokens in, 80 out, $0.0080");
  expect(line("capstan.checkpoint_taken")).toBe("Checkpoint at the end of the turn: 1 added, 2 changed, 0 deleted");
  expect(line("session.error")).toBe("Error model_failed, retrying | The model is overloaded.");
});

test("a long text of many lines stays one line, and an unknown tool shows its input", () => {
  const long = example("agent.message", { content: [{ type: "text", text: `a\n\n${"b ".repeat(5_000)}` }] });
  const { said } = summaryOf({ ...long, seq: 1 });
  expect(said).toMatch(/^a b b .*…$/);
  expect(said?.length).toBeLessThanOrEqual(300);
  const odd = example("agent.custom_tool_use", { name: "paint", input: { colour: "blue", coats: 2 } });
  expect(summaryOf({ ...odd, seq: 1 }).said).toBe('{"colour":"blue","coats":2}');
});

test("what a newer server writes is shown by its type", () => {
  const newer = { ...example("user.interrupt"), type: "capstan.from_the_future" as "user.interrupt", seq: 1 };
  expect(summaryOf(newer).text).toBe("capstan.from_the_future");
  expect(groupOf(newer)).toBe("session");
});

test("every group has events, and asks the server for exactly its own", () => {
  for (const group of GROUPS) {
    const types = typesOf(new Set([group]))?.split(",");
    expect(types).toEqual(
      expect.arrayContaining(all.filter((event) => groupOf(event) === group).map(({ type }) => type)),
    );
    expect(types?.every((type) => groupOf({ type: type as EventType }) === group)).toBe(true);
  }
  expect(typesOf(new Set())).toBeUndefined();
  expect(typesOf(new Set(GROUPS))).toBeUndefined();
});

test("who did it, and on which line of the session", () => {
  expect(doerOf({ ...example("user.tool_confirmation"), seq: 1 })).toEqual({ kind: "user", name: "me" });
  expect(doerOf({ ...example("agent.message"), seq: 1 }).kind).toBe("agent");
  expect(doerOf({ ...example("agent.message", { session_thread_id: "sthr_1" }), seq: 1 })).toEqual({
    kind: "subagent",
    threadId: "sthr_1",
  });
  const decided = { ...example("capstan.permission_decided", { session_thread_id: "sthr_1" }), seq: 1 };
  expect(doerOf(decided).kind).toBe("runtime");
  expect(threadOf(decided)).toBe("sthr_1");
  expect(threadOf({ ...example("session.status_idle"), seq: 1 })).toBeNull();
});

test("subagents of one name are told apart", () => {
  const thread = { parent_thread_id: null, status: "idle" } as const;
  const names = threadNames([
    { ...thread, id: "sthr_aaaa", agent_name: "worker" },
    { ...thread, id: "sthr_bbbb", agent_name: "worker" },
    { ...thread, id: "sthr_c", agent_name: "critic" },
  ]);
  expect([...names.values()]).toEqual(["worker …aaaa", "worker …bbbb", "critic"]);
});
