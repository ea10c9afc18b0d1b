import { z } from "zod";
import { textBlock } from "./content.ts";
import {
  agentMessage,
  agentThinking,
  agentToolUse,
  agentMcpToolUse,
  agentCustomToolUse,
  agentToolResult,
  agentMcpToolResult,
  agentThreadContextCompacted,
} from "./agent.ts";
import {
  inputDelivered,
  promptRendered,
  inputsGiven,
  projectFileFound,
  permissionDecided,
  approvalRequested,
  elicitationSettled,
  toolProgress,
  limitReached,
  budgetWarned,
  budgetChanged,
  engineChanged,
  modelChanged,
  modeChanged,
  processStarted,
  messageWithdrawn,
  processLost,
  sessionForked,
  sessionArchived,
  hookRan,
} from "./capstan.ts";
import {
  sessionStatusRunning,
  sessionStatusIdle,
  sessionStatusRescheduled,
  sessionStatusTerminated,
  sessionError,
  sessionUsage,
  sessionUpdated,
  sessionThreadCreated,
  sessionThreadStatusRunning,
  sessionThreadStatusIdle,
  sessionThreadStatusTerminated,
} from "./session.ts";
import { programsPinned, settingsWithheld } from "./trust.ts";
import { spanModelRequestStart, spanModelRequestEnd } from "./span.ts";
import {
  workspacePrepared,
  workspaceBusy,
  checkpointTaken,
  checkpointFailed,
  configurationChanged,
  rewindStarted,
  rewound,
  rewindFailed,
  workspaceExported,
  workspaceRemoved,
  resourceAdded,
} from "./workspace.ts";
import { userMessage, userInterrupt, userToolConfirmation, userCustomToolResult } from "./user.ts";

/**
 * The facts of a session, in the vocabulary of the Managed Agents API. Each schema is a superset of the API's type
 * (test/types/managed-agents.ts lets the compiler prove it); facts the API has no word for start with `capstan.`.
 *
 * Grammar of a turn:
 *   user.message+ session.status_running (agent.* | span.* | session.thread_* | capstan.*)* session.status_idle
 */

export const sessionEvent = z.discriminatedUnion("type", [
  userMessage,
  userInterrupt,
  userToolConfirmation,
  userCustomToolResult,
  agentMessage,
  agentThinking,
  agentToolUse,
  agentMcpToolUse,
  agentCustomToolUse,
  agentToolResult,
  agentMcpToolResult,
  agentThreadContextCompacted,
  sessionStatusRunning,
  sessionStatusIdle,
  sessionStatusRescheduled,
  sessionStatusTerminated,
  sessionError,
  sessionUsage,
  sessionUpdated,
  sessionThreadCreated,
  sessionThreadStatusRunning,
  sessionThreadStatusIdle,
  sessionThreadStatusTerminated,
  spanModelRequestStart,
  spanModelRequestEnd,
  inputDelivered,
  promptRendered,
  inputsGiven,
  projectFileFound,
  permissionDecided,
  approvalRequested,
  elicitationSettled,
  toolProgress,
  limitReached,
  budgetWarned,
  budgetChanged,
  engineChanged,
  modelChanged,
  modeChanged,
  processStarted,
  messageWithdrawn,
  processLost,
  sessionForked,
  sessionArchived,
  hookRan,
  settingsWithheld,
  programsPinned,
  workspacePrepared,
  workspaceBusy,
  checkpointTaken,
  checkpointFailed,
  configurationChanged,
  rewindStarted,
  rewound,
  rewindFailed,
  workspaceExported,
  workspaceRemoved,
  resourceAdded,
]);

export type { SessionErrorBody, StopReason } from "./session.ts";
export type { ModelUsage } from "../money/usage.ts";

export type SessionEvent = z.infer<typeof sessionEvent>;
export type EventType = SessionEvent["type"];
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** An event before the runtime adds its time and, unless its preview was already shown, its id. */
export type EventDraft<T extends EventType = EventType> = T extends EventType
  ? Omit<EventOf<T>, "id" | "processed_at"> & { readonly id?: string }
  : never;

/** An event as saved in the log. `hash` covers the event, its position and the previous hash. */
export interface StoredEvent {
  readonly seq: number;
  readonly event: SessionEvent;
  readonly hash: string;
}

/** An event with its position in the log, as followers receive it. */
export type LoggedEvent = SessionEvent & { readonly seq: number };

/**
 * Text that is being written right now. Never saved; the final event has the same id, and a withdrawn preview never
 * gets one. A start with a known id restarts that text from the beginning.
 */
export const preview = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("event_start"),
    event: z.object({ id: z.string(), type: z.enum(["agent.message", "agent.thinking"]) }),
  }),
  z.object({
    type: z.literal("event_delta"),
    event_id: z.string(),
    delta: z.object({ type: z.literal("content_delta"), content: textBlock, index: z.number().optional() }),
  }),
  z.object({ type: z.literal("capstan.event_withdrawn"), event_id: z.string() }),
]);
export type Preview = z.infer<typeof preview>;
