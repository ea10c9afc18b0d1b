export { openHost, type HostOptions } from "./app/open-host.ts";
export { type AgentDefinition, type AgentInput, type Mode, parseAgent } from "./core/agent/agent-definition.ts";
export type { Checkpoint } from "./core/session/checkpoint-list.ts";
export type { EnvironmentDefinition, EnvironmentInput } from "./core/environment/environment.ts";
export { CapstanError, type ErrorCode } from "./core/errors.ts";
export type {
  EventOf,
  EventType,
  LoggedEvent,
  ModelUsage,
  Preview,
  SessionEvent,
  StopReason,
} from "./core/events/events.ts";
export type { AskPermission, PermissionAnswer, PermissionQuestion } from "./core/session/approval.ts";
export type {
  AfterTool,
  BeforePrompt,
  BeforeTool,
  HookOptions,
  OnSessionEnd,
  OnTurnEnd,
  SessionHooks,
} from "./core/ports/hooks.ts";
export type { MessageContent } from "./core/events/content.ts";
export type { StandardSchema } from "./core/agent/standard-schema.ts";
export type { SessionState } from "./core/session/state.ts";
export type { SessionRecord, SessionSummary } from "./core/ports/store.ts";
export type { Tool, ToolContext, ToolOutcome } from "./core/ports/tool.ts";
export type { ApplyOutcome, CopyProgress, FileChange } from "./core/ports/workspace.ts";
export type { ChangeStep } from "./runtime/files/change-steps.ts";
export type { SessionDiff } from "./runtime/files/files.ts";
export type { Rewind, RewindRequest } from "./runtime/files/rewind.ts";
export type { Runtime as Host } from "./runtime/runtime.ts";
export type { ForkOptions, ResumeOptions, SessionOptions, StartOptions } from "./runtime/session-options.ts";
export type { Session } from "./runtime/session.ts";
export type { StoredWorkspace } from "./runtime/files/stored-workspaces.ts";
export type { Turn, TurnResult } from "./runtime/turn/turn.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export type { ToolReply } from "./tools/tool-reply.ts";
