import type { Clock } from "../../core/ports/clock.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { OpenCall, SessionState } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";
import { confirmation } from "../approvals/approval-desk.ts";
import type { CallOutcome } from "./permission-gate.ts";
import { clientResult, isCustom, lastOutcome } from "./client-results.ts";

/**
 * What people have answered about calls that are now decided without them. It changes nothing any more, but the answer
 * was accepted and its grants hold: the log must say who gave it.
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
 * Results that clients have given of calls which are about to be ended: what they ran is told as it is. `closed` are
 * those calls, which need no other end.
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

export const TURN_ENDED = "turn:ended";

/** A decision about a call of which nothing but its place in the log is known. */
export function decisionOf(
  callId: string,
  { threadId, eventId, name, approvalId }: OpenCall,
  { granted, decidedBy, reason }: Pick<CallOutcome, "granted" | "decidedBy" | "reason">,
): EventDraft<"capstan.permission_decided"> {
  return {
    type: "capstan.permission_decided",
    ...(threadId !== null && { session_thread_id: threadId }),
    call_id: callId,
    tool_use_id: eventId,
    tool: name,
    decision: granted ? "allow" : "deny",
    decided_by: decidedBy,
    reason,
    ...(approvalId !== undefined && { approval_id: approvalId }),
  };
}
