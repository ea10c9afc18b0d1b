import type { EventOf } from "../events/events.ts";
import type { OpenCall, SessionState } from "./state.ts";

/** Tool calls in a session's state. */

type ToolUse = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

export function openCall(state: SessionState, event: ToolUse): SessionState {
  const call: OpenCall = {
    eventId: event.id,
    type: event.type,
    name: event.name,
    threadId: event.session_thread_id ?? null,
    decision: "none",
    reason: "",
    ...(event.type === "agent.mcp_tool_use" && { server: event.mcp_server_name }),
  };
  return { ...state, openCalls: { ...state.openCalls, [event.call_id]: call } };
}

export function askAbout(state: SessionState, event: EventOf<"capstan.approval_requested">): SessionState {
  const call = state.openCalls[event.call_id];
  if (call === undefined) return state;
  const asked: OpenCall =
    event.server === undefined
      ? { ...call, approvalId: event.approval_id }
      : { ...call, elicitations: [...(call.elicitations ?? []), event.approval_id] };
  return { ...state, openCalls: { ...state.openCalls, [event.call_id]: asked } };
}

export function settleElicitation(state: SessionState, event: EventOf<"capstan.elicitation_settled">): SessionState {
  const call = state.openCalls[event.call_id];
  if (call === undefined) return state;
  const { elicitations = [], ...rest } = call;
  const open = elicitations.filter((id) => id !== event.approval_id);
  const settled: OpenCall = open.length > 0 ? { ...rest, elicitations: open } : rest;
  return { ...state, openCalls: { ...state.openCalls, [event.call_id]: settled } };
}

export function decideCall(state: SessionState, event: EventOf<"capstan.permission_decided">): SessionState {
  const call = state.openCalls[event.call_id];
  if (call === undefined) return state;
  const decided: OpenCall = {
    ...call,
    decision: event.decision === "allow" ? "allowed" : "denied",
    reason: event.reason,
  };
  const toolCalls = state.toolCalls + (event.decision === "allow" ? 1 : 0);
  return { ...state, toolCalls, openCalls: { ...state.openCalls, [event.call_id]: decided } };
}

export function closeCall(state: SessionState, callId: string | undefined): SessionState {
  if (callId === undefined || !(callId in state.openCalls)) return state;
  const { [callId]: _closed, ...openCalls } = state.openCalls;
  return { ...state, openCalls };
}

export function callIdOf(state: SessionState, eventId: string): string | undefined {
  return Object.keys(state.openCalls).find((callId) => state.openCalls[callId]?.eventId === eventId);
}
