import type { LoggedEvent } from "../../core/events/events.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { allOf, failedWith, type Finding, passedWith, type GraderContext } from "./grader.ts";
import { countInWords, isCountWithin, times } from "./similarity/words.ts";

interface Decision {
  readonly tool: string;
  readonly decision: "allow" | "ask" | "deny";
  /** Such as `rule:deny Bash(rm *)`, `mode:plan` or `person:me`. */
  readonly by: string;
}

/** Graders for decisions about tool calls. */
export function gradeDecisions(given: GraderParams<"decisions">, { facts }: GraderContext): Finding {
  const all = facts.events.flatMap(decisionIn);
  return allOf(given.map((one) => check(one, all)));
}

function check(
  { tool, decision, by, count = { at_least: 1 } }: GraderParams<"decisions">[number],
  all: readonly Decision[],
): Finding {
  const ofTool = all.filter((one) => one.tool === tool);
  const fitting = ofTool.filter((one) => one.decision === decision && (by === undefined || isBy(one.by, by)));
  const what = `${decision} for ${tool}${by === undefined ? "" : ` by ${by}`}`;
  if (isCountWithin(fitting.length, count)) return passedWith(`${what}: ${times(fitting.length)}`);
  const found = ofTool.map((one) => `${one.decision} by ${one.by}`).join("; ");
  return failedWith(`expected ${countInWords(count)} ${what} (found ${found === "" ? "no decision about it" : found})`);
}

/** A call that needed approval has two decisions: `ask`, and the result. */
function decisionIn(event: LoggedEvent): readonly Decision[] {
  if (event.type === "capstan.permission_decided")
    return [{ tool: event.tool, decision: event.decision, by: event.decided_by }];
  // An MCP server's questions and a client's results are not decisions about a call.
  if (event.type === "capstan.approval_requested" && event.server === undefined && event.kind !== "custom_tool")
    return [{ tool: event.tool, decision: "ask", by: event.asked_by }];
  return [];
}

/** `by` is a rule as written, a kind such as `mode` or `person`, or the log's exact text. */
function isBy(decided: string, by: string): boolean {
  if (decided === by || decided.split(":", 1)[0] === by) return true;
  const [, rules] = /^rule:\w+ (.+)$/s.exec(decided) ?? [];
  // A command with several parts may need several rules.
  return rules !== undefined && (rules === by || rules.split(", ").includes(by));
}
