import type { LoggedEvent } from "../../core/events/events.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import type { TrialTurnFacts } from "../trial/trial-facts.ts";
import { allOf, failedWith, type Finding, passedWith, type GraderContext } from "./grader.ts";
import { countInWords, isCountWithin } from "./similarity/words.ts";

/** Graders for how a trial went: its subagents, its end, what it recovered from. */

export function gradeSubagents(given: GraderParams<"subagents">, { facts }: GraderContext): Finding {
  const used = new Set(
    facts.events.flatMap((event) => (event.type === "session.thread_created" ? [event.agent_name] : [])),
  );
  const missing = given.filter((name) => !used.has(name));
  if (missing.length === 0) return passedWith(`${given.join(", ")}: used`);
  return failedWith(`expected the subagents ${missing.join(", ")} (found ${[...used].join(", ") || "none"})`);
}

export function gradeStopReason(given: GraderParams<"stop_reason">, turn: TrialTurnFacts): Finding {
  if (turn.stopReason === given) return passedWith(`the turn ended with ${given}`);
  return failedWith(`expected the turn to end with ${given} (found ${turn.stopReason})`);
}

export function gradeRecovery(given: GraderParams<"recovery">, { facts }: GraderContext): Finding {
  const lost = facts.events.filter(({ type }) => type === "capstan.process_lost").length;
  return allOf([
    ...(given.retries === undefined
      ? []
      : [countFinding("repeated model requests", retriesIn(facts.events), given.retries)]),
    ...(given.processes_lost === undefined ? [] : [countFinding("lost processes", lost, given.processes_lost)]),
  ]);
}

function countFinding(what: string, found: number, expected: GraderParams<"requests">): Finding {
  return {
    passed: isCountWithin(found, expected),
    message: `expected ${countInWords(expected)} ${what} (found ${found})`,
  };
}

/**
 * Requests that failed and were repeated: another one of the same class follows on the same thread in the same turn.
 */
function retriesIn(events: readonly LoggedEvent[]): number {
  const failed = new Set<string>();
  let retries = 0;
  for (const event of events) {
    if (event.type === "session.status_idle") failed.clear();
    if (event.type !== "span.model_request_start" && event.type !== "span.model_request_end") continue;
    const line = `${event.session_thread_id ?? ""} ${event.request_class}`;
    if (event.type === "span.model_request_end" && event.is_error === true) failed.add(line);
    else if (event.type === "span.model_request_start" && failed.delete(line)) retries += 1;
  }
  return retries;
}
