import { expect, test } from "vitest";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { initialState, reduce } from "../../src/core/session/state.ts";
import { stateToWire } from "../../src/protocol/api/session-state.ts";
import type { WireSession } from "../../src/protocol/api/sessions.ts";
import { isOfCall, storyOf } from "../../web/src/audit/call-story.ts";
import { foundRows, sessionName, sessionRows } from "../../web/src/audit/session-rows.ts";
import { stateLines } from "../../web/src/audit/state/state-lines.ts";
import { example } from "../support/event-examples.ts";

test("a state is told in words, and what an event changed stands out", () => {
  const before = reduce(initialState, example("session.status_running"), 1);
  const asked = reduce(
    reduce(before, example("agent.tool_use"), 2),
    example("capstan.approval_requested", { tool: "Read" }),
    3,
  );
  const lines = stateLines(stateToWire(asked), stateToWire(before));
  const changed = lines.filter(({ was }) => was !== undefined).map(({ name, values }) => [name, values]);
  expect(changed).toEqual([
    ["Open calls", ["Read, not decided"]],
    ["Waiting for", ["approval of Read (appr_1)"]],
  ]);
  expect(lines.find(({ name }) => name === "Status")?.values).toEqual(["running"]);
  const idle = reduce(asked, example("session.status_idle"), 4);
  expect(stateLines(stateToWire(idle), stateToWire(asked)).find(({ name }) => name === "Status")).toEqual({
    name: "Status",
    values: ["idle"],
    was: ["running"],
  });
  expect(stateLines(stateToWire(idle), undefined).every(({ was }) => was === undefined)).toBe(true);
});

test("the story of a call is put together from whichever of its events is looked at", () => {
  const other = { call_id: "toolu_9", tool_use_id: "sevt_99" };
  const around: LoggedEvent[] = [
    { ...example("agent.tool_use"), seq: 1 },
    { ...example("agent.tool_use", { id: "sevt_99", call_id: "toolu_9" }), seq: 2 },
    { ...example("capstan.hook_ran"), seq: 3 },
    { ...example("capstan.approval_requested"), seq: 4 },
    { ...example("user.tool_confirmation"), seq: 5 },
    { ...example("capstan.permission_decided"), seq: 6 },
    { ...example("capstan.permission_decided", other), seq: 7 },
    { ...example("agent.tool_result"), seq: 8 },
  ];
  for (const event of [0, 2, 3, 4, 5, 7].flatMap((index) => around[index] ?? [])) {
    expect(isOfCall(event)).toBe(true);
    const { use, hooks, asked, answer, decision, end } = storyOf(event, around);
    expect([use, ...hooks, asked, answer, decision, end].map((part) => part?.seq)).toEqual([1, 3, 4, 5, 6, 8]);
  }
  expect(
    storyOf({ ...example("agent.tool_use", { id: "sevt_99", call_id: "toolu_9" }), seq: 2 }, around),
  ).toMatchObject({
    hooks: [],
    decision: { seq: 7 },
  });
  expect(isOfCall({ ...example("agent.message"), seq: 1 })).toBe(false);
});

function session(id: string, title: string | null, first: string): WireSession {
  return { id, title, first_message: first, agent: { name: "coder" } } as WireSession;
}

function auditedSession(id: string, status: "ok" | "missing") {
  return { session_id: id, status, events: 3, unsigned: 0, erased: false } as const;
}

test("sessions: what is wrong comes first, and words find them", () => {
  const sessions = [session("sesn_a", "Colours", "Paint it"), session("sesn_b", null, "Count the\nbeans")];
  const rows = sessionRows(
    [auditedSession("sesn_c", "missing"), auditedSession("sesn_b", "ok"), auditedSession("sesn_a", "ok")],
    sessions,
  );
  expect(rows.map(({ session_id: id }) => id)).toEqual(["sesn_c", "sesn_a", "sesn_b"]);
  expect(foundRows(rows, "beans CODER").map(({ session_id: id }) => id)).toEqual(["sesn_b"]);
  expect(foundRows(rows, "sn_c").map(({ session_id: id }) => id)).toEqual(["sesn_c"]);
  expect(foundRows(rows, " ")).toBe(rows);
  expect(sessions.map(sessionName)).toEqual(["Colours", "Count the beans"]);
  expect(sessionName(session("sesn_d", "", ""))).toBe("Session of coder");
});
