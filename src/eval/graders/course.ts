import type { LoggedEvent } from "../../core/events/events.ts";
import type { Given } from "../../core/suite/grader-schema.ts";
import type { TurnFacts } from "../trial/trial-facts.ts";
import { allOf, failedWith, type Finding, passedWith, type Surroundings } from "./grader.ts";
import { countInWords, isWithin } from "./similarity/words.ts";

/** Graders for how a trial went: its subagents, its end, what it recovered from. */

export function subagents(given: Given<"subagents">, { facts }: Surroundings): Finding {
  const used = new Set(
    facts.events.flatMap((event) => (event.type === "session.thread_created" ? [event.agent_name] : [])),
  );
  const missing = given.filter((name) => !used.has(name));
  if (missing.length === 0) return passedWith(`${given.join(", ")}: used`);
  return failedWith(`expected the subagents ${missing.join(", ")} (found ${[...used].join(", ") || "none"})`);
}

export function stopReason(given: Given<"stop_reason">, turn: TurnFacts): Finding {
  if (turn.stopReason === given) return passedWith(`the turn ended with ${given}`);
  return failedWith(`expected the turn to end with ${given} (found ${turn.stopReason})`);
}

export function recovery(given: Given<"recovery">, { facts }: Surroundings): Finding {
  const lost = facts.events.filter(({ type }) => type === "capstan.process_lost").length;
  return allOf([
    ...(given.retries === undefined
      ? []
      : [counted("repeated model requests", retriesIn(facts.events), given.retries)]),
    ...(given.processes_lost === undefined ? [] : [counted("lost processes", lost, given.processes_lost)]),
  ]);
}

function counted(what: string, found: number, expected: Given<"requests">): Finding {
  return {
    passed: isWithin(found, expected),
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
