import type { StoredAnswer } from "../../core/session/approval.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { OpenCall } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";
import { customToolResult, isCustom, type ToolResultFacts } from "./call-events.ts";
import type { CallOutcome } from "./permission-gate.ts";

/**
 * The results that clients give for custom tools. One append decides and ends a call of such a tool, so a result that was
 * accepted is either in the log or still in the approval.
 */

/** What a client has answered; undefined when none has, and for a call that is not for a client. */
async function clientOutcome(store: Store, call: OpenCall): Promise<CallOutcome | undefined> {
  if (!isCustom(call) || call.approvalId === undefined) return undefined;
  const answer = (await store.approvals.get(call.approvalId))?.answer ?? null;
  return answer === null || answer.from === "session" ? undefined : byClient(call.approvalId, answer);
}

/**
 * The same for a call that is about to end without an answer. It closes the approval: a client must not hear that a
 * result was accepted which nobody will use.
 */
export async function lastOutcome(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  call: OpenCall,
  by: string,
): Promise<CallOutcome | undefined> {
  const given = await clientOutcome(store, call);
  if (given !== undefined || !isCustom(call) || call.approvalId === undefined) return given;
  const closing: StoredAnswer = { behavior: "deny", by, from: "session", at: clock.now() };
  const isClosed = await store.approvals.answer(call.approvalId, closing, []).then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof CapstanError && thrown.code === "approval_closed") return false;
      throw thrown;
    },
  );
  return isClosed ? undefined : clientOutcome(store, call);
}

export function byClient(approvalId: string, answer: StoredAnswer): CallOutcome {
  const { by, behavior, message, result } = answer;
  const granted = behavior === "allow" && result !== undefined;
  return {
    granted,
    decidedBy: `person:${by}`,
    reason: granted ? `${by} gave the result of this call.` : (message ?? `${by} denied this call.`),
    approvalId,
    answer,
    facts: [],
  };
}

/** The result of a decided call: the client's, or why there is none. */
export function clientResult(call: OpenCall, callId: string, { granted, reason, answer }: CallOutcome): EventDraft {
  const given = granted ? answer?.result : undefined;
  const facts: ToolResultFacts =
    given === undefined
      ? { callId, content: [{ type: "text", text: reason }], isError: true, outcome: "denied" }
      : { callId, ...given, outcome: given.isError ? "failed" : "completed" };
  return customToolResult(call, facts, answer);
}
