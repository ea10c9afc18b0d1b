import type { EventDraft } from "../core/events.ts";
import type { OpenCall } from "../core/state.ts";
import type { Store } from "../core/store.ts";
import { confirmation } from "./approvals.ts";

/**
 * What people have answered about calls that are now decided without them. It changes nothing any more, but the answer
 * was accepted and its grants hold: the log must say who gave it.
 */
export async function lateAnswers(store: Store, calls: Iterable<OpenCall>): Promise<EventDraft[]> {
  const ids = [...calls].flatMap(({ approvalId, decision, elicitations = [] }) =>
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
