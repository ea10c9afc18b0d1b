import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { fits } from "../compare/matches-expected.ts";
import type { TrialCallFacts } from "../trial/trial-facts.ts";
import { failedWith, type Finding, passedWith, type GraderContext } from "./grader.ts";
import { countInWords, diffOf, isCountWithin, readableValue, shortJson, times } from "./similarity/words.ts";

/** Graders for tool calls, including those of subagents, whatever their outcome. */

const LISTED = 20;

export function gradeToolsCalled(given: GraderParams<"tools_called">, { facts }: GraderContext): Finding {
  const missing = given.filter((name) => !facts.calls.some(({ tool }) => tool === name));
  if (missing.length === 0) return passedWith(`${given.join(", ")}: called`);
  return failedWith(`expected a call of ${missing.join(" and of ")} (found ${callList(facts.calls)})`);
}

export function gradeToolsNotCalled(given: GraderParams<"tools_not_called">, { facts }: GraderContext): Finding {
  const found = facts.calls.filter(({ tool }) => given.includes(tool));
  if (found.length === 0) return passedWith(`${given.join(", ")}: not called`);
  return failedWith(`expected no call of ${given.join(" or ")} (found ${found.map(callInWords).join("; ")})`);
}

/** Other calls may come in between. */
export function gradeToolsInOrder(given: GraderParams<"tools_in_order">, { facts }: GraderContext): Finding {
  let done = 0;
  for (const { tool } of facts.calls) if (tool === given[done]) done += 1;
  if (done === given.length) return passedWith(`called in this order: ${given.join(", ")}`);
  const came = done === 0 ? "" : ` after ${given.slice(0, done).join(", ")}`;
  return failedWith(
    `expected the calls ${given.join(", ")} in this order; ${given[done] ?? ""} is missing${came} (found ${callList(facts.calls)})`,
  );
}

export function gradeToolCount(given: GraderParams<"tool_count">, { facts }: GraderContext): Finding {
  const { calls } = facts;
  const told = `${countInWords(given)} tool calls`;
  if (isCountWithin(calls.length, given)) return passedWith(`${calls.length} tool calls, expected ${told}`);
  return failedWith(`expected ${told} (found ${calls.length}: ${callList(calls)})`);
}

export function gradeToolCall(given: GraderParams<"tool_call">, { facts }: GraderContext): Finding {
  const { tool, input, outcome, by, count = { at_least: 1 } } = given;
  const ofTool = facts.calls.filter((call) => call.tool === tool);
  const fitting = ofTool.filter(
    (call) =>
      (outcome === undefined || call.outcome === outcome) &&
      (by === undefined || call.by === by) &&
      (input === undefined || fits(input, call.input)),
  );
  const what = [
    `call of ${tool}`,
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(input === undefined ? [] : [`with ${shortJson(input)}`]),
    ...(outcome === undefined ? [] : [`that ${OUTCOMES[outcome]}`]),
  ].join(" ");
  if (isCountWithin(fitting.length, count)) return passedWith(`${what}: ${times(fitting.length)}`);
  // If there is only one call and it does not match, it must be the one that was meant.
  const [only] = ofTool;
  const isClose = ofTool.length === 1 && fitting.length === 0 && input !== undefined && only !== undefined;
  return failedWith(
    `expected ${countInWords(count)} ${what} (found ${fitting.length}; all calls of ${tool}: ${callList(ofTool)})`,
    isClose ? diffOf(readableValue(input), readableValue(only.input)) : undefined,
  );
}

const OUTCOMES = {
  completed: "was completed",
  failed: "failed",
  denied: "was denied",
  aborted: "was aborted",
} as const;

function callList(calls: readonly TrialCallFacts[]): string {
  if (calls.length === 0) return "none";
  const more = calls.length > LISTED ? `; and ${calls.length - LISTED} more` : "";
  return calls.slice(0, LISTED).map(callInWords).join("; ") + more;
}

function callInWords({ tool, input, by, outcome }: TrialCallFacts): string {
  const who = by === "main" ? "" : ` by ${by}`;
  return `${tool}${who} ${shortJson(input)}${outcome === "completed" ? "" : ` (${outcome ?? "no outcome"})`}`;
}
