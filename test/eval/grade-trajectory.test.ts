import { expect, test } from "vitest";
import { call, facts, loggedExample, turn, verdictOf } from "./grade-support.ts";

const CALLS = [
  call("Read", { input: { file_path: "/w/a.txt" } }),
  call("Bash", { input: { command: "git status", options: { quiet: true, tags: ["a", "b"] } } }),
  call("Bash", { input: { command: "rm -rf /" }, outcome: "denied" }),
  call("mcp__shop__order", { input: { id: 7 }, by: "buyer", outcome: "failed" }),
];
const trial = facts({ calls: CALLS });

type Case = readonly [grader: Readonly<Record<string, unknown>>, passes: boolean, message: RegExp];

const TOOLS: readonly Case[] = [
  [{ tools_called: ["Bash", "mcp__shop__order"] }, true, /called/],
  [
    { tools_called: ["Bash", "Write", "Edit"] },
    false,
    /a call of Write and of Edit \(found Read .*; Bash .*; Bash .*\(denied\); mcp__shop__order by buyer/,
  ],
  [{ tools_not_called: ["Write"] }, true, /not called/],
  [
    { tools_not_called: ["Write", "Read"] },
    false,
    /no call of Write or Read \(found Read \{"file_path":"\/w\/a\.txt"\}\)/,
  ],
  [{ tools_in_order: ["Read", "mcp__shop__order"] }, true, /in this order/],
  [{ tools_in_order: ["Bash", "Bash"] }, true, /in this order/],
  [{ tools_in_order: ["Bash", "Read"] }, false, /Read is missing after Bash/],
  [{ tools_in_order: ["Write", "Read"] }, false, /; Write is missing \(found/],
  [{ tool_count: 4 }, true, /4 tool calls/],
  [{ tool_count: { at_most: 3 } }, false, /expected at most 3 tool calls \(found 4: Read/],
  [{ tool_count: { at_least: 1, at_most: 2 } }, false, /expected from 1 to 2 tool calls/],
  [{ tool_call: { tool: "Bash" } }, true, /call of Bash: 2 times/],
  [{ tool_call: { tool: "Bash", input: { command: "git status" } } }, true, /once/],
  [{ tool_call: { tool: "Bash", input: { command: "/^GIT /i" } } }, true, /once/],
  [{ tool_call: { tool: "Bash", input: { options: { tags: ["a", "/./"] } } } }, true, /once/],
  [
    { tool_call: { tool: "Bash", input: { options: { tags: ["a"] } } } },
    false,
    /expected at least 1 call of Bash with/,
  ],
  [{ tool_call: { tool: "Bash", input: { command: "git" } } }, false, /found 0; all calls of Bash: Bash \{/],
  [{ tool_call: { tool: "Bash", outcome: "denied", count: 1 } }, true, /was denied: once/],
  [{ tool_call: { tool: "Bash", outcome: "failed" } }, false, /that failed \(found 0/],
  [{ tool_call: { tool: "mcp__shop__order", by: "buyer", input: { id: 7 } } }, true, /by buyer/],
  [{ tool_call: { tool: "mcp__shop__order", by: "main" } }, false, /by main/],
  [{ tool_call: { tool: "Write", count: 0 } }, true, /call of Write: never/],
  [{ tool_call: { tool: "Bash", count: { at_most: 1 } } }, false, /expected at most 1 call of Bash \(found 2/],
];

test.for(TOOLS)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, trial);
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

test("without a call, that is said; the only call that does not fit has a diff", async () => {
  expect((await verdictOf({ tools_called: ["Read"] }, facts())).message).toContain("(found none)");
  const { diff } = await verdictOf({ tool_call: { tool: "Read", input: { file_path: "/w/b.txt" } } }, trial);
  expect(diff).toContain('-  "file_path": "/w/b.txt"\n+  "file_path": "/w/a.txt"');
});

const decided = (tool: string, decision: "allow" | "deny", decided_by: string) =>
  loggedExample("capstan.permission_decided", { tool, decision, decided_by });
const asked = (tool: string, asked_by: string, more: object = {}) =>
  loggedExample("capstan.approval_requested", { tool, asked_by, kind: "tool", ...more });
const DECIDED = facts({
  events: [
    decided("Read", "allow", "tool:read-only"),
    decided("Bash", "deny", "rule:deny Bash(rm *)"),
    decided("Bash", "allow", "rule:allow Bash(git *), Bash(ls)"),
    asked("Write", "default:ask"),
    decided("Write", "allow", "person:me"),
    asked("Fetch", "server", { server: "shop" }),
  ],
});

const DECISIONS: readonly Case[] = [
  [{ decisions: [{ tool: "Bash", decision: "deny", by: "Bash(rm *)" }] }, true, /once/],
  [{ decisions: [{ tool: "Bash", decision: "allow", by: "Bash(ls)" }] }, true, /once/],
  [{ decisions: [{ tool: "Bash", decision: "deny", by: "rule" }] }, true, /once/],
  [
    { decisions: [{ tool: "Bash", decision: "deny", by: "mode" }] },
    false,
    /expected at least 1 deny for Bash by mode \(found deny by rule:deny Bash\(rm \*\); allow by/,
  ],
  [
    {
      decisions: [
        { tool: "Write", decision: "ask" },
        { tool: "Write", decision: "allow", by: "person" },
      ],
    },
    true,
    /once/,
  ],
  [{ decisions: [{ tool: "Read", decision: "allow", by: "tool:read-only" }] }, true, /once/],
  [{ decisions: [{ tool: "Read", decision: "deny", count: 0 }] }, true, /never/],
  [{ decisions: [{ tool: "Fetch", decision: "ask" }] }, false, /no decision about it/],
  [
    {
      decisions: [
        { tool: "Read", decision: "allow" },
        { tool: "Edit", decision: "deny" },
      ],
    },
    false,
    /^expected at least 1 deny for Edit/,
  ],
];

test.for(DECISIONS)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, DECIDED);
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

const SPENT = facts({
  usd: 0.0125,
  tokens: { input: 100, output: 20, cacheRead: 1000, cacheCreation: 500 },
  requests: 3,
  durationMs: 2500,
});

const SPEND: readonly Case[] = [
  [{ cost: { at_most: 0.02 } }, true, /\$0\.0125/],
  [{ cost: { at_most: 0.01 } }, false, /expected at most \$0\.01 \(found \$0\.0125\)/],
  [{ tokens: { at_most: 1620 } }, true, /1,620 tokens/],
  [{ tokens: { at_most: 1619 } }, false, /at most 1,619 tokens \(found 1,620 tokens\)/],
  [{ tokens: { at_most: 99, of: "input" } }, false, /found 100 input tokens/],
  [{ tokens: { at_most: 20, of: "output" } }, true, /output tokens/],
  [{ tokens: { at_most: 999, of: "cache_read" } }, false, /1,000 cache read tokens/],
  [{ requests: 3 }, true, /found 3/],
  [{ requests: { at_most: 2 } }, false, /expected at most 2 model requests \(found 3\)/],
  [{ duration: { at_most: "3s" } }, true, /found 2\.5 s/],
  [{ duration: { at_most: "500ms" } }, false, /at most 500 ms \(found 2\.5 s\)/],
];

test.for(SPEND)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, SPENT);
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

test("a cost that nobody knows is an error, not a pass", async () => {
  await expect(verdictOf({ cost: { at_most: 1 } }, facts({ usd: null }))).rejects.toThrow(/cost: the price .* prices/);
});

const thread = { session_thread_id: "sthr_1" };
const COURSE = facts({
  turns: [turn({ stopReason: "end_turn" }), turn({ stopReason: "budget_reached" })],
  events: [
    loggedExample("session.thread_created", { agent_name: "reviewer" }),
    loggedExample("span.model_request_start"),
    loggedExample("span.model_request_end", { is_error: true }),
    loggedExample("span.model_request_start", thread),
    loggedExample("span.model_request_end", { is_error: false, ...thread }),
    loggedExample("span.model_request_start"),
    loggedExample("span.model_request_end", { is_error: true }),
    loggedExample("span.model_request_start"),
    loggedExample("span.model_request_end", { is_error: false }),
    loggedExample("capstan.process_lost"),
    loggedExample("span.model_request_start"),
    loggedExample("span.model_request_end", { is_error: true }),
    loggedExample("session.status_idle"),
    loggedExample("span.model_request_start"),
    loggedExample("span.model_request_end", { is_error: false }),
  ],
});

const COURSES: readonly Case[] = [
  [{ subagents: ["reviewer"] }, true, /used/],
  [{ subagents: ["reviewer", "writer"] }, false, /expected the subagents writer \(found reviewer\)/],
  [{ stop_reason: "budget_reached" }, true, /budget_reached/],
  [{ stop_reason: "end_turn" }, false, /end with end_turn \(found budget_reached\)/],
  [{ stop_reason: "end_turn", turn: 1 }, true, /end_turn/],
  [{ recovery: { retries: 2, processes_lost: 1 } }, true, /exactly 2 repeated model requests \(found 2\)/],
  [{ recovery: { retries: { at_least: 3 } } }, false, /at least 3 repeated model requests \(found 2\)/],
  [{ recovery: { processes_lost: 0 } }, false, /exactly 0 lost processes \(found 1\)/],
];

test.for(COURSES)("%j: passes is %s", async ([grader, passed, message]) => {
  const verdict = await verdictOf(grader, COURSE);
  expect(verdict).toMatchObject({ passed });
  expect(verdict.message).toMatch(message);
});

test("without subagents, that is said", async () => {
  expect((await verdictOf({ subagents: ["a"] }, facts())).message).toBe("expected the subagents a (found none)");
});
