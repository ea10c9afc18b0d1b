import type { ToolContent } from "../../core/events/content.ts";
import type { EventDraft, SessionEvent } from "../../core/events/events.ts";
import { type HistoryItem, historyOf } from "../../core/session/history.ts";
import type { OpenCall, SessionState } from "../../core/session/state.ts";
import { delegatingCalls, type ThreadRef } from "../../core/session/waiting-calls.ts";
import { unansweredElicitations } from "../approvals/elicitations.ts";
import { decisionOf, isCustom, toolResult, TURN_ENDED } from "./call-events.ts";

/**
 * The events that settle a turn whose process or host is gone: every call gets its one outcome, every subagent its end.
 * A call that was allowed may have run; it never runs again, and the model is told that its outcome is unknown. Calls in
 * `closed` already have their end.
 */
export function settleOpenWork(state: SessionState, closed: readonly string[] = []): EventDraft[] {
  const calls = Object.entries(state.openCalls)
    .filter(([callId]) => !closed.includes(callId))
    .flatMap(([callId, call]) => [
      ...withdrawalEvents(callId, call),
      ...unansweredElicitations(callId, call),
      abandonedResult(callId, call),
    ]);
  const threads = Object.entries(state.threads)
    .filter(([, thread]) => thread.status === "running")
    .map(([id, thread]): EventDraft => ({
      type: "session.thread_status_terminated",
      session_thread_id: id,
      agent_name: thread.agentName,
    }));
  return [...calls, ...threads];
}

/**
 * The events for a process that is gone while a person is asked: a call that ran gets its outcome; calls that wait for
 * a decision, or for a subagent, keep waiting.
 */
export function settleRunningCalls(state: SessionState): EventDraft[] {
  const delegating = delegatingCalls(state);
  return Object.entries(state.openCalls).flatMap(([callId, call]) =>
    call.decision === "none" || delegating.includes(callId)
      ? []
      : [...unansweredElicitations(callId, call), abandonedResult(callId, call)],
  );
}

/** The question no longer needs an answer. */
function withdrawalEvents(callId: string, call: OpenCall): EventDraft[] {
  if (call.approvalId === undefined || call.decision !== "none") return [];
  const reason = "The turn was ended before the question was answered.";
  return [decisionOf(callId, call, { granted: false, decidedBy: TURN_ENDED, reason })];
}

function abandonedResult(callId: string, call: OpenCall): EventDraft {
  if (call.decision === "denied")
    return toolResult(call, { callId, content: textContent(call.reason), isError: true, outcome: "denied" });
  const text =
    call.decision === "allowed"
      ? "[Interrupted: the agent process ended while this call ran, and its outcome is unknown. Check what it did before doing it again.]"
      : isCustom(call)
        ? "[No result: the turn was ended before a client had answered. Whether the client did something is not known.]"
        : "[Not run: the agent process ended before this call was decided.]";
  return toolResult(call, { callId, content: textContent(text), isError: true, outcome: "aborted" });
}

/** What to do about the turn that a dead host left behind. */
export type CutTurn =
  /** The model had finished its answer; only the end of the turn is missing from the log. */
  | { readonly kind: "finished" }
  /** The model must be asked again; `withdraw` names an answer that was cut off and is not part of the conversation. */
  | { readonly kind: "unfinished"; readonly withdraw: string | undefined };

/** `events` begin where the model's view does, and settle the open work of the thread. */
export function inspectCutTurn(events: readonly SessionEvent[], line: ThreadRef = null): CutTurn {
  const last: HistoryItem | undefined = historyOf(events, line).at(-1);
  if (last?.kind !== "model" || last.blocks.some((block) => block.kind === "call"))
    return { kind: "unfinished", withdraw: undefined };
  const answer = events.findLast(
    (event) =>
      event.type === "span.model_request_end" &&
      (event.session_thread_id ?? null) === line &&
      event.request_class !== "auxiliary",
  );
  const complete =
    answer?.type === "span.model_request_end" && answer.stop_reason !== null && answer.stop_reason !== "tool_use";
  return complete && spokenAfterStart(events, last.messageId, answer.model_request_start_id)
    ? { kind: "finished" }
    : { kind: "unfinished", withdraw: last.messageId };
}

/** Whether the message is the answer to that request, and not to an earlier one. */
function spokenAfterStart(events: readonly SessionEvent[], messageId: string, startId: string): boolean {
  const start = events.findIndex((event) => event.id === startId);
  const spoken = events.findLastIndex((event) => "message_id" in event && event.message_id === messageId);
  return start >= 0 && spoken > start;
}

function textContent(text: string): ToolContent {
  return [{ type: "text", text }];
}
