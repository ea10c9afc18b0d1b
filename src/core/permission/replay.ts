import { MODES, type Mode } from "../agent/agent-definition.ts";
import type { EventOf } from "../events/events.ts";
import { decide, type PermissionVerdict } from "./decide.ts";
import type { RuleSet } from "./rule-set.ts";

export type Decided = EventOf<"capstan.permission_decided">;

/** How other rules would have decided a recorded call. Uses only the record. */
export interface Replayed {
  readonly before: PermissionVerdict["behavior"];
  readonly now: PermissionVerdict["behavior"];
  readonly verdict: PermissionVerdict;
}

/** Decisions that no rule could change. */
const NOT_BY_RULES = /^(?:limit:|error$|sandbox:(?:read|write|network)$)/;
/** A person was asked. */
const ASKED = /^(?:person:|caller$|expired$|default:ask$|rule:ask |protected:|tool:(?:ExitPlanMode|AskUserQuestion)$)/;

/** Undefined for a decision that was not about rules, and for one recorded without the data that rules need. */
export function replayDecision(event: Decided, rules: RuleSet, mode?: Mode): Replayed | undefined {
  const { subject, traits, decided_by: decidedBy, decision } = event;
  const recorded = MODES.find((known) => known === event.mode);
  if (subject === undefined || traits === undefined || recorded === undefined || NOT_BY_RULES.test(decidedBy))
    return undefined;
  const enabled = decidedBy !== "agent:tools";
  const verdict = decide({
    enabled,
    mode: mode ?? recorded,
    rules,
    traits,
    subject,
    sandboxed: decidedBy === "sandbox:auto-allow",
    grants: [],
  });
  const before = ASKED.test(decidedBy) ? "ask" : decision;
  // The grant that answered then would answer again.
  const isGranted = decidedBy.startsWith("grant:") && verdict.behavior === "ask" && verdict.rememberable;
  return { before, now: isGranted ? "allow" : verdict.behavior, verdict };
}
