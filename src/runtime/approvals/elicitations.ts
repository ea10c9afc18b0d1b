import { elicitationInput, elicitedContent } from "../../core/session/elicitation.ts";
import type { Elicitation, ElicitationAnswer } from "../../core/session/elicitation.ts";
import type { EventDraft, EventOf } from "../../core/events/events.ts";
import type { PermissionVerdict } from "../../core/permission/decide.ts";
import type { OpenCall } from "../../core/session/state.ts";
import { type ApprovalDesk, confirmation, type Settled } from "./approval-desk.ts";
import type { SessionBasics } from "../session-deps.ts";

/** In characters. */
const MAX_TITLE = 200;

type Deps = SessionBasics & { readonly desk: ApprovalDesk };

/** The call itself was allowed; its server's question goes to people in every mode. */
const ASK: PermissionVerdict = {
  behavior: "ask",
  decidedBy: "server",
  reason: "The server of a tool that runs has a question.",
  rememberable: false,
  kind: "question",
};

/**
 * Puts a question of an MCP server into the inbox and waits for its answer. The question belongs to the call that runs
 * and ends with it. Unlike an approval it does not survive the process, because only that process can use the answer.
 */
export async function elicitAnswer(question: Elicitation, signal: AbortSignal, deps: Deps): Promise<ElicitationAnswer> {
  try {
    const running = runningCall(question, deps);
    // A server may ask only during a call; nobody could say what any other question is about.
    if (running === undefined) return { action: "cancel" };
    return await ask(question, { ...running, signal }, deps);
  } catch {
    return { action: "cancel" };
  }
}

interface Running {
  readonly callId: string;
  readonly open: OpenCall;
}

/** The protocol does not say which of a server's calls a question is for; this takes the oldest. */
function runningCall({ server }: Elicitation, { log }: Deps): Running | undefined {
  const [found] = Object.entries(log.state.openCalls).filter(
    ([, call]) => call.server === server && call.decision === "allowed",
  );
  return found && { callId: found[0], open: found[1] };
}

async function ask(
  question: Elicitation,
  { callId, open, signal }: Running & { signal: AbortSignal },
  deps: Deps,
): Promise<ElicitationAnswer> {
  const draft = requestOf(question, { callId, open }, deps);
  const { approvalId: _decided, ...unasked } = open;
  const { tool, input, traits } = draft;
  const settled = await deps.desk.ask(
    {
      call: { callId, tool, input, traits },
      open: unasked,
      request: async () => draft,
      decideAgain: async () => ASK,
    },
    signal,
  );
  const { answer, ...told } = answerTo(settled, draft);
  await deps.log.append((state) => {
    // The end of the call may have settled the question meanwhile.
    if (state.openCalls[callId]?.elicitations?.includes(draft.approval_id) !== true) return [];
    return [
      ...(state.status === "idle" && settled.kind !== "given_up"
        ? [{ type: "session.status_running", goes_on: true } as const]
        : []),
      ...(settled.kind === "answered" ? [confirmation(settled.approval.request, settled.answer)] : []),
      settledEvent(draft, told),
    ];
  });
  return answer;
}

function requestOf(
  question: Elicitation,
  { callId, open }: Running,
  { ids, clock, log, record }: Deps,
): EventDraft<"capstan.approval_requested"> {
  const { approvals_expire_ms: lifetime } = record.agent.permissions;
  const agent = open.threadId === null ? undefined : log.state.threads[open.threadId]?.agentName;
  const title = question.message.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return {
    type: "capstan.approval_requested",
    ...(open.threadId !== null && { session_thread_id: open.threadId }),
    approval_id: ids.next("appr"),
    kind: ASK.kind,
    call_id: callId,
    tool_use_id: open.eventId,
    tool: `mcp__${question.server}__${open.name}`,
    input: elicitationInput(question),
    title: title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title,
    ...(agent !== undefined && { agent }),
    server: question.server,
    asked_by: `server:${question.server}`,
    reason: ASK.reason,
    traits: { readOnly: false, edit: false, safeInternal: false },
    remember: [],
    expires_at: lifetime === undefined ? null : new Date(clock.now() + lifetime).toISOString(),
  };
}

type Told = Pick<EventOf<"capstan.elicitation_settled">, "action" | "decided_by" | "reason" | "content">;

function answerTo(
  settled: Settled,
  { input }: EventDraft<"capstan.approval_requested">,
): Told & { readonly answer: ElicitationAnswer } {
  if (settled.kind === "expired") return cancellation("expired", "Nobody answered in time.");
  if (settled.kind !== "answered")
    return cancellation("turn:ended", "The process that asked is gone, or the turn was ended.");
  const { by, behavior, answers, message } = settled.answer;
  const person = `person:${by}`;
  const reason = message ?? `${by} ${behavior === "allow" ? "answered" : "did not want to answer"}.`;
  if (behavior === "deny") return { action: "decline", decided_by: person, reason, answer: { action: "decline" } };
  const { content, problems } = { content: undefined, ...elicitedContent(input, answers ?? {}) };
  if (problems !== undefined || content === undefined) return cancellation("error", (problems ?? []).join("; "));
  return {
    action: "accept",
    decided_by: person,
    reason,
    content: { ...content },
    answer: { action: "accept", content },
  };
}

function cancellation(decidedBy: string, reason: string): Told & { readonly answer: ElicitationAnswer } {
  return { action: "cancel", decided_by: decidedBy, reason, answer: { action: "cancel" } };
}

function settledEvent(
  request: EventDraft<"capstan.approval_requested">,
  told: Told,
): EventDraft<"capstan.elicitation_settled"> {
  const { session_thread_id: thread, approval_id, call_id, tool_use_id, server = "" } = request;
  return {
    type: "capstan.elicitation_settled",
    ...(thread != null && { session_thread_id: thread }),
    approval_id,
    call_id,
    tool_use_id,
    server,
    ...told,
  };
}

/** Cancels what a server asked while its call ran: nobody is left to use the answer. */
export function unansweredElicitations(callId: string, call: OpenCall): EventDraft<"capstan.elicitation_settled">[] {
  return (call.elicitations ?? []).map((approvalId) => ({
    type: "capstan.elicitation_settled",
    ...(call.threadId !== null && { session_thread_id: call.threadId }),
    approval_id: approvalId,
    call_id: callId,
    tool_use_id: call.eventId,
    server: call.server ?? "",
    action: "cancel",
    decided_by: "call:ended",
    reason: "The call ended before the question was answered.",
  }));
}
