import type { StoredAnswer } from "../../core/session/approval.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { OpenCall } from "../../core/session/state.ts";
import type { Store } from "../../core/ports/store.ts";
import type { CallOutcome } from "./permission-gate.ts";
import type { ResultFacts } from "./tool-calls.ts";

/**
 * The results that clients give of custom tools. A call of such a tool is decided and ended by one append: what a client
 * was told is accepted is in the log, or the approval still holds it.
 */

export function isCustom({ type }: OpenCall): boolean {
  return type === "agent.custom_tool_use";
}

/** What a client has answered; undefined when none has, and for a call that is no client's. */
async function clientOutcome(store: Store, call: OpenCall): Promise<CallOutcome | undefined> {
  if (!isCustom(call) || call.approvalId === undefined) return undefined;
  const answer = (await store.approvals.get(call.approvalId))?.answer ?? null;
  return answer === null || answer.from === "session" ? undefined : byClient(call.approvalId, answer);
}

/**
 * The same for a call that is about to be ended without an answer. From then on it is too late to answer: a client must
 * not be told that a result is accepted which nobody will use.
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

/** The end of a call that was decided: the client's result, or why there is none. */
export function clientResult(call: OpenCall, callId: string, { granted, reason, answer }: CallOutcome): EventDraft {
  const given = granted ? answer?.result : undefined;
  const facts: ResultFacts =
    given === undefined
      ? { callId, content: [{ type: "text", text: reason }], isError: true, outcome: "denied" }
      : { callId, ...given, outcome: given.isError ? "failed" : "completed" };
  return customToolResult(call, facts, answer);
}

export function customToolResult(
  { eventId, threadId }: OpenCall,
  { callId, content, isError, outcome }: ResultFacts,
  answer?: StoredAnswer,
): EventDraft<"user.custom_tool_result"> {
  return {
    type: "user.custom_tool_result",
    ...(answer?.eventId !== undefined && { id: answer.eventId }),
    ...(threadId !== null && { session_thread_id: threadId }),
    custom_tool_use_id: eventId,
    content,
    is_error: isError,
    call_id: callId,
    outcome,
    ...(answer !== undefined && { by: answer.by, from: answer.from }),
  };
}
