import type { Clock } from "../../core/ports/clock.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { OpenCall, SessionState } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";
import { confirmation } from "../approvals/approval-desk.ts";
import { decisionOf, isCustom, TURN_ENDED } from "./call-events.ts";
import { clientResult, lastOutcome } from "./client-results.ts";

/**
 * Answers of people about calls that are now decided without them. They no longer change anything, but each was accepted
 * and its grants hold, so the log must say who gave it.
 */
export async function lateAnswers(store: Store, calls: Iterable<OpenCall>): Promise<EventDraft[]> {
  const ids = [...calls]
    .filter((call) => !isCustom(call))
    .flatMap(({ approvalId, decision, elicitations = [] }) =>
      approvalId !== undefined && decision === "none" ? [approvalId, ...elicitations] : elicitations,
    );
  const approvals = await Promise.all(ids.map((id) => store.approvals.get(id)));
  return approvals.flatMap((approval) => {
    const answer = approval?.answer ?? null;
    return approval === undefined || answer === null || answer.from === "session"
      ? []
      : [confirmation(approval.request, answer)];
  });
}

/**
 * Results that clients have given for calls that are about to end: the log has them as they are. `closed` names those
 * calls, which need no other end.
 */
export async function lateResults(
  deps: { readonly store: Store; readonly clock: Clock },
  { openCalls }: SessionState,
): Promise<{ readonly events: EventDraft[]; readonly closed: readonly string[] }> {
  const events: EventDraft[] = [];
  const closed: string[] = [];
  for (const [callId, call] of Object.entries(openCalls)) {
    const outcome = call.decision === "none" ? await lastOutcome(deps, call, TURN_ENDED) : undefined;
    if (outcome === undefined) continue;
    events.push(decisionOf(callId, call, outcome), clientResult(call, callId, outcome));
    closed.push(callId);
  }
  return { events, closed };
}
