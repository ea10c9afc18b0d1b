import type { EventOf, ModelUsage, SessionEvent, StopReason } from "./events.ts";

/**
 * A session's state is a fold of its events and nothing else. It is plain data, so that a snapshot of it plus the
 * tail of the log gives the same state as the whole log. It grows with the number of subagents, not of turns.
 */
export interface SessionState {
  readonly status: "idle" | "running" | "rescheduling" | "terminated";
  /** Of the last turn; absent before the first one has ended. */
  readonly stopReason?: StopReason;
  readonly turns: number;
  /** Calls that were allowed. */
  readonly toolCalls: number;
  readonly usage: ModelUsage;
  readonly usd: number;
  readonly model?: string;
  readonly mode?: string;
  /** User messages that are stored but not yet in the conversation, oldest first. */
  readonly undelivered: readonly { readonly id: string; readonly seq: number }[];
  /** Tool calls without an outcome, by the model's call id. */
  readonly openCalls: Readonly<Record<string, OpenCall>>;
  readonly threads: Readonly<Record<string, ThreadState>>;
  /** Where the model's view of the primary thread can be read from: 0, or the last compaction. */
  readonly historyFrom: number;
}

export interface OpenCall {
  readonly eventId: string;
  readonly type: "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use";
  readonly name: string;
  readonly threadId: string | null;
  /** `allowed` means that it may have run: after a crash its outcome is unknown. */
  readonly decision: "none" | "allowed" | "denied";
  /** Why it was denied; the model is told this. */
  readonly reason: string;
}

export interface ThreadState {
  readonly agentName: string;
  readonly callId: string;
  readonly status: "running" | "idle" | "terminated";
}

export const initialState: SessionState = {
  status: "idle",
  turns: 0,
  toolCalls: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  usd: 0,
  undelivered: [],
  openCalls: {},
  threads: {},
  historyFrom: 0,
};

export function reduce(state: SessionState, event: SessionEvent, seq: number): SessionState {
  switch (event.type) {
    case "user.message":
      return { ...state, undelivered: [...state.undelivered, { id: event.id, seq }] };
    case "capstan.input_delivered":
      return { ...state, undelivered: state.undelivered.filter(({ id }) => !event.event_ids.includes(id)) };
    case "session.status_running":
      // After `rescheduling` the same turn goes on.
      return { ...state, status: "running", turns: state.turns + (state.status === "idle" ? 1 : 0) };
    case "session.status_idle":
      return { ...state, status: "idle", stopReason: event.stop_reason };
    case "session.status_rescheduled":
      return { ...state, status: "rescheduling" };
    case "session.status_terminated":
      return { ...state, status: "terminated" };
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return openCall(state, event);
    case "capstan.permission_decided":
      return decideCall(state, event);
    case "agent.tool_result":
    case "agent.mcp_tool_result":
      return closeCall(state, event.call_id);
    case "user.custom_tool_result":
      return closeCall(state, callOf(state, event.custom_tool_use_id));
    case "span.model_request_end":
      return { ...state, usage: addUsage(state.usage, event.model_usage), usd: state.usd + (event.usd ?? 0) };
    case "session.thread_created":
      return withThread(state, event.session_thread_id, {
        agentName: event.agent_name,
        callId: event.call_id,
        status: "running",
      });
    case "session.thread_status_running":
      return threadStatus(state, event.session_thread_id, "running");
    case "session.thread_status_idle":
      return threadStatus(state, event.session_thread_id, "idle");
    case "session.thread_status_terminated":
      return threadStatus(state, event.session_thread_id, "terminated");
    case "agent.thread_context_compacted":
      // A subagent's compaction changes nothing in the primary thread.
      return event.session_thread_id == null
        ? { ...state, historyFrom: historyStart(state, { seq, keptFrom: event.kept.from_seq }) }
        : state;
    case "capstan.model_changed":
    case "capstan.prompt_rendered":
      return { ...state, model: event.model };
    case "capstan.mode_changed":
      return { ...state, mode: event.mode };
    case "agent.message":
    case "agent.thinking":
    case "user.interrupt":
    case "user.tool_confirmation":
    case "session.error":
    case "session.usage":
    case "span.model_request_start":
    case "capstan.tool_progress":
    case "capstan.limit_reached":
    case "capstan.process_started":
    case "capstan.process_lost":
    case "capstan.message_withdrawn":
    case "capstan.session_forked":
      return state;
  }
}

/** A message that waits during a compaction is delivered after it, and what it kept stands before it. */
function historyStart(state: SessionState, { seq, keptFrom }: { seq: number; keptFrom: number }): number {
  return Math.min(seq, keptFrom, ...state.undelivered.map((message) => message.seq));
}

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  };
}

type ToolUse = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

function openCall(state: SessionState, event: ToolUse): SessionState {
  const call: OpenCall = {
    eventId: event.id,
    type: event.type,
    name: event.name,
    threadId: event.session_thread_id ?? null,
    decision: "none",
    reason: "",
  };
  return { ...state, openCalls: { ...state.openCalls, [event.call_id]: call } };
}

function decideCall(state: SessionState, event: EventOf<"capstan.permission_decided">): SessionState {
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

function closeCall(state: SessionState, callId: string | undefined): SessionState {
  if (callId === undefined || !(callId in state.openCalls)) return state;
  const { [callId]: _closed, ...openCalls } = state.openCalls;
  return { ...state, openCalls };
}

function callOf(state: SessionState, eventId: string): string | undefined {
  return Object.keys(state.openCalls).find((callId) => state.openCalls[callId]?.eventId === eventId);
}

function withThread(state: SessionState, id: string, thread: ThreadState): SessionState {
  return { ...state, threads: { ...state.threads, [id]: thread } };
}

function threadStatus(state: SessionState, id: string, status: ThreadState["status"]): SessionState {
  const thread = state.threads[id];
  return thread === undefined ? state : withThread(state, id, { ...thread, status });
}
