import type { Mode } from "../../core/agent/agent-definition.ts";
import type { ToolContent } from "../../core/events/content.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import type { StoredAnswer } from "../../core/session/approval.ts";
import type { OpenCall } from "../../core/session/state.ts";
import type { OutputFacts } from "../outputs/keep-output.ts";
import { isSameFile } from "../paths/file-input.ts";
import type { CallOutcome } from "./permission-gate.ts";

/** What the log says about a tool call: how it was decided, and how it ended. */

export function isCustom({ type }: OpenCall): boolean {
  return type === "agent.custom_tool_use";
}

/** `open` names the approval that was opened while the call was being decided. An input is stored only when it means something else. */
export function decisionEvent({
  call,
  open,
  outcome,
  mode,
  cwd,
}: {
  call: CallRequest;
  open: OpenCall;
  outcome: CallOutcome;
  mode: Mode;
  cwd: string;
}): EventDraft<"capstan.permission_decided"> {
  const { granted, decidedBy, reason, input, subject } = outcome;
  const isOther = input !== undefined && !isSameFile(call.tool, [call.input, input], cwd);
  return {
    type: "capstan.permission_decided",
    ...(open.threadId !== null && { session_thread_id: open.threadId }),
    call_id: call.callId,
    tool_use_id: open.eventId,
    tool: call.tool,
    decision: granted ? "allow" : "deny",
    decided_by: decidedBy,
    reason,
    mode,
    traits: call.traits,
    ...(granted && isOther && { input: { ...input } }),
    ...(subject !== undefined && { subject }),
    ...(open.approvalId !== undefined && { approval_id: open.approvalId }),
  };
}

export const TURN_ENDED = "turn:ended";

/** A decision about a call of which only the log is left. */
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

export interface ToolResultFacts {
  readonly callId: string;
  readonly content: ToolContent;
  readonly isError: boolean;
  readonly outcome: "completed" | "failed" | "denied" | "aborted";
  readonly detail?: string | undefined;
  readonly whole_output?: OutputFacts["whole_output"];
}

export function toolResult(call: OpenCall, facts: ToolResultFacts): EventDraft {
  if (isCustom(call)) return customToolResult(call, facts);
  const { callId, content, isError, outcome, detail, whole_output } = facts;
  const common = {
    ...(call.threadId !== null && { session_thread_id: call.threadId }),
    call_id: callId,
    outcome,
    content,
    is_error: isError,
    ...(detail !== undefined && { detail }),
    ...(whole_output !== undefined && { whole_output }),
  };
  return call.type === "agent.mcp_tool_use"
    ? { type: "agent.mcp_tool_result", ...common, mcp_tool_use_id: call.eventId }
    : { type: "agent.tool_result", ...common, tool_use_id: call.eventId };
}

export function customToolResult(
  { eventId, threadId }: OpenCall,
  { callId, content, isError, outcome }: ToolResultFacts,
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
