import type { SessionBudget } from "../money/budget-schema.ts";
import type { Crossing } from "../money/budget-scopes.ts";
import type { EventOf, ModelUsage, SessionEvent, StopReason } from "../events/events.ts";
import { askAbout, callIdOf, closeCall, decideCall, openCall, settleElicitation } from "./state-calls.ts";
import { decideFiles, endFiles, type FilesState, noFiles, reduceFiles, tellRewind } from "./state-files.ts";
import { openRequest, settleRequest, withCrossing } from "./state-spend.ts";

/**
 * A session's state is a fold of its events and nothing else. It is plain data, so that a snapshot plus the rest of the
 * log gives the same state as the whole log. It grows with the number of subagents, not of turns.
 */
export interface SessionState {
  readonly status: "idle" | "running" | "rescheduling" | "terminated";
  /** Of the last turn; absent before the first one has ended. */
  readonly stopReason?: StopReason;
  readonly turns: number;
  /** Calls that were allowed. */
  readonly toolCalls: number;
  readonly usage: ModelUsage;
  /** List price of the requests with a known price. */
  readonly usd: number;
  /** Requests with an unknown price, not included in `usd`; absent if there are none. */
  readonly unpricedRequests?: number;
  /** Model requests that were allowed and are not settled, by the id of their start; absent if there are none. */
  readonly openRequests?: Readonly<Record<string, OpenRequest>>;
  /** Limits that replaced the agent's; absent if they never changed. */
  readonly budget?: SessionBudget;
  /** Shares of limits that were reported, or that a person agreed to exceed; absent if there are none. */
  readonly crossings?: readonly string[];
  /** The share of a limit that a person must agree to exceed before another call runs; absent if there is none. */
  readonly overspent?: Crossing;
  readonly model?: string;
  readonly mode?: string;
  /** The engine of the current or next turn; absent while it is the agent's own. */
  readonly engine?: string;
  /** Replaces `engine` when the current turn has ended. */
  readonly nextEngine?: string;
  /** User messages that are saved but not yet in the conversation, oldest first. */
  readonly undelivered: readonly { readonly id: string; readonly seq: number }[];
  /** Tool calls without an outcome, by the model's call id. */
  readonly openCalls: Readonly<Record<string, OpenCall>>;
  readonly threads: Readonly<Record<string, ThreadState>>;
  /** Where the model's view of the primary thread starts in the log: 0, or the last compaction. */
  readonly historyFrom: number;
  readonly files: FilesState;
  /** The agent's programs at the start, as in `capstan.programs_pinned`; absent if it has none. */
  readonly programs?: Readonly<Record<string, string>>;
}

export type OpenRequest = Pick<
  EventOf<"span.model_request_start">,
  "session_thread_id" | "model" | "request_class" | "billing" | "estimate"
>;

export interface OpenCall {
  readonly eventId: string;
  readonly type: "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use";
  readonly name: string;
  readonly threadId: string | null;
  /** `allowed` means that it may have run: after a crash its outcome is unknown. */
  readonly decision: "none" | "allowed" | "denied";
  /** Why it was denied; sent to the model. */
  readonly reason: string;
  /** The approval it waits for, or waited for. */
  readonly approvalId?: string;
  /** The MCP server it is for; absent for other kinds of tools. */
  readonly server?: string;
  /** Approvals with which its server asks a person while it runs; absent if there are none. */
  readonly elicitations?: readonly string[];
}

export interface ThreadState {
  readonly agentName: string;
  /** Null if the primary thread started it. */
  readonly parentThreadId: string | null;
  /** The call that it works for: the one that started it, or that last sent it a message. */
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
  files: noFiles,
};

export function reduce(state: SessionState, event: SessionEvent, seq: number): SessionState {
  switch (event.type) {
    case "user.message":
      return tellRewind({ ...state, undelivered: [...state.undelivered, { id: event.id, seq }] });
    case "capstan.input_delivered":
      return { ...state, undelivered: state.undelivered.filter(({ id }) => !event.event_ids.includes(id)) };
    case "session.status_running":
      // After `rescheduling`, and after waiting for a person, the same turn continues.
      return {
        ...state,
        status: "running",
        turns: state.turns + (state.status === "idle" && event.goes_on !== true ? 1 : 0),
      };
    case "session.status_idle":
      return withNextEngine(endFiles({ ...state, status: "idle", stopReason: event.stop_reason }));
    case "session.status_rescheduled":
      return { ...state, status: "rescheduling" };
    case "session.status_terminated":
      return { ...state, status: "terminated" };
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return openCall(state, event);
    case "capstan.approval_requested":
      return askAbout(state, event);
    case "capstan.permission_decided":
      return decideFiles(decideCall(state, event), event);
    case "capstan.elicitation_settled":
      return settleElicitation(state, event);
    case "agent.tool_result":
    case "agent.mcp_tool_result":
      return closeCall(state, event.call_id);
    case "user.custom_tool_result":
      return closeCall(state, callIdOf(state, event.custom_tool_use_id));
    case "span.model_request_start":
      return openRequest(state, event);
    case "span.model_request_end":
      return settleRequest(state, event);
    case "capstan.budget_changed":
      return { ...state, budget: { ...state.budget, ...event.budget } };
    case "capstan.budget_warned":
      return withCrossing(state, event);
    case "session.thread_created":
      return withThread(state, event.session_thread_id, {
        agentName: event.agent_name,
        parentThreadId: event.parent_thread_id,
        callId: event.call_id,
        status: "running",
      });
    case "session.thread_status_running":
      return threadRuns(state, event);
    case "session.thread_status_idle":
      return threadStatus(state, event.session_thread_id, "idle");
    case "session.thread_status_terminated":
      return threadStatus(state, event.session_thread_id, "terminated");
    case "agent.thread_context_compacted":
      // A subagent's compaction does not affect the primary thread.
      return event.session_thread_id == null
        ? { ...state, historyFrom: historyStart(state, { seq, keptFrom: event.kept.from_seq }) }
        : state;
    case "capstan.model_changed":
    case "capstan.prompt_rendered":
      return { ...state, model: event.model };
    case "capstan.mode_changed":
      return { ...state, mode: event.mode };
    case "capstan.engine_changed":
      return withNextEngine({ ...state, engine: event.from, nextEngine: event.engine });
    case "capstan.programs_pinned":
      return { ...state, programs: Object.fromEntries(event.files.map(({ path, sha256 }) => [path, sha256])) };
    case "capstan.workspace_prepared":
    case "capstan.workspace_removed":
    case "capstan.workspace_exported":
    case "capstan.checkpoint_taken":
    case "capstan.rewind_started":
    case "capstan.rewound":
    case "capstan.rewind_failed":
      return reduceFiles(state, event);
    case "agent.message":
    case "agent.thinking":
    case "user.interrupt":
    case "user.tool_confirmation":
    case "session.error":
    case "session.usage":
    case "session.updated":
    case "capstan.inputs_given":
    case "capstan.project_file_found":
    case "capstan.tool_progress":
    case "capstan.limit_reached":
    case "capstan.process_started":
    case "capstan.process_lost":
    case "capstan.message_withdrawn":
    case "capstan.session_forked":
    case "capstan.session_archived":
    case "capstan.hook_ran":
    case "capstan.settings_withheld":
    case "capstan.workspace_busy":
    case "capstan.resource_added":
    case "capstan.checkpoint_failed":
    case "capstan.configuration_changed":
      return state;
  }
}

/** Whether a turn has started and not ended: it runs, is about to continue, or waits for a person. */
export function inTurn({ status, stopReason }: Pick<SessionState, "status" | "stopReason">): boolean {
  return (
    status === "running" || status === "rescheduling" || (status === "idle" && stopReason?.type === "requires_action")
  );
}

/** A turn ends on the engine it started on. */
function withNextEngine({ nextEngine, ...state }: SessionState): SessionState {
  if (nextEngine === undefined) return state;
  return inTurn(state) ? { ...state, nextEngine } : { ...state, engine: nextEngine };
}

/** Undecided calls that a person was asked about. */
export function askedCalls(state: SessionState): readonly (readonly [callId: string, call: OpenCall])[] {
  return Object.entries(state.openCalls).filter(
    ([, call]) => call.approvalId !== undefined && call.decision === "none",
  );
}

/** A message that waits during a compaction is delivered after it, and what the compaction kept comes before it. */
function historyStart(state: SessionState, { seq, keptFrom }: { seq: number; keptFrom: number }): number {
  return Math.min(seq, keptFrom, ...state.undelivered.map((message) => message.seq));
}

function withThread(state: SessionState, id: string, thread: ThreadState): SessionState {
  return { ...state, threads: { ...state.threads, [id]: thread } };
}

/** A thread's distance from the primary one: 1 if that has started it. */
export function threadDepth({ threads }: Pick<SessionState, "threads">, id: string): number {
  const seen = new Set<string>();
  for (let at: string | null = id; at !== null && !seen.has(at); at = threads[at]?.parentThreadId ?? null) seen.add(at);
  return seen.size;
}

function threadRuns(state: SessionState, event: EventOf<"session.thread_status_running">): SessionState {
  const thread = state.threads[event.session_thread_id];
  if (thread === undefined) return state;
  return withThread(state, event.session_thread_id, {
    ...thread,
    status: "running",
    callId: event.call_id ?? thread.callId,
  });
}

function threadStatus(state: SessionState, id: string, status: ThreadState["status"]): SessionState {
  const thread = state.threads[id];
  return thread === undefined ? state : withThread(state, id, { ...thread, status });
}
