import { z } from "zod";
import { sessionBudget } from "../../core/money/budget-schema.ts";
import { sessionStatusIdle } from "../../core/events/session.ts";
import { spanModelRequestEnd } from "../../core/events/span.ts";
import { workspacePrepared } from "../../core/events/workspace.ts";
import type { FilesState } from "../../core/session/state-files.ts";
import type { OpenCall, SessionState } from "../../core/session/state.ts";
import { STATUSES, type WireSession } from "./sessions.ts";

const checkpointRef = z.object({ id: z.string(), commit: z.string() });

const openCall = z.object({
  call_id: z.string(),
  event_id: z.string(),
  type: z.enum(["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"]),
  name: z.string(),
  session_thread_id: z.string().nullable(),
  decision: z.enum(["none", "allowed", "denied"]),
  approval_id: z.string().optional(),
});

/** A session's state: everything that its log says so far. */
export const sessionState = z.object({
  status: z.enum(STATUSES),
  stop_reason: sessionStatusIdle.shape.stop_reason
    .nullable()
    .describe("The last turn's stop reason; null until the first turn has ended."),
  turns: z.number(),
  tool_calls: z.number(),
  usage: spanModelRequestEnd.shape.model_usage,
  usd: z.number(),
  unpriced_requests: z.number(),
  engine: z
    .string()
    .nullable()
    .describe("The engine of the current turn, or of the next one; null if it is the agent's."),
  next_engine: z.string().nullable().describe("The engine after the current turn; null for the same."),
  model: z.string().nullable(),
  mode: z.string().nullable(),
  budget: sessionBudget.nullable().describe("Limits that replaced the agent's."),
  open_calls: z.array(openCall).describe("Tool calls without an outcome."),
  threads: z.array(
    z.object({
      id: z.string(),
      agent_name: z.string(),
      parent_thread_id: z.string().nullable(),
      status: z.enum(["running", "idle", "terminated"]),
    }),
  ),
  files: z.object({
    workspace: workspacePrepared.omit({ type: true, id: true, processed_at: true }).nullable(),
    start: checkpointRef.nullable().describe("The first checkpoint: the files as the session found them."),
    last: checkpointRef.nullable(),
    removed: z.boolean(),
  }),
});
export type WireState = z.infer<typeof sessionState>;

/** `head`: the position of the log's last event, so that its end can be read first. */
export type WireSessionWithState = WireSession & { head: number; state: WireState };

export function stateToWire(state: SessionState): WireState {
  const { files } = state;
  return {
    status: state.status,
    stop_reason: state.stopReason ?? null,
    turns: state.turns,
    tool_calls: state.toolCalls,
    usage: state.usage,
    usd: state.usd,
    unpriced_requests: state.unpricedRequests ?? 0,
    engine: state.engine ?? null,
    next_engine: state.nextEngine ?? null,
    model: state.model ?? null,
    mode: state.mode ?? null,
    budget: state.budget ?? null,
    open_calls: Object.entries(state.openCalls).map(([id, call]) => openCallToWire(id, call)),
    threads: Object.entries(state.threads).map(([id, { agentName, parentThreadId, status }]) => ({
      id,
      agent_name: agentName,
      parent_thread_id: parentThreadId,
      status,
    })),
    files: {
      workspace: files.workspace ?? null,
      start: files.start ?? null,
      last: files.last ?? null,
      removed: files.removed === true,
    },
  };
}

function openCallToWire(id: string, call: OpenCall): WireState["open_calls"][number] {
  const { eventId, type, name, threadId, decision, approvalId } = call;
  return {
    call_id: id,
    event_id: eventId,
    type,
    name,
    session_thread_id: threadId,
    decision,
    ...(approvalId !== undefined && { approval_id: approvalId }),
  };
}

/** The part of the state that followers of a session use. */
export type FollowedState = Pick<SessionState, "status" | "stopReason" | "mode"> & {
  readonly openCalls: Readonly<Record<string, unknown>>;
  readonly files: Pick<FilesState, "workspace" | "last">;
};

export function followedState({ status, stop_reason, mode, open_calls, files }: WireState): FollowedState {
  return {
    status,
    ...(stop_reason !== null && { stopReason: stop_reason }),
    ...(mode !== null && { mode }),
    openCalls: Object.fromEntries(open_calls.map((call) => [call.call_id, call])),
    files: {
      ...(files.workspace !== null && { workspace: files.workspace }),
      ...(files.last !== null && { last: files.last }),
    },
  };
}
