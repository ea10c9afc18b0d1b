export { openHost, type HostOptions } from "./app/open-host.ts";
export { type AgentDefinition, type AgentInput, type Mode, parseAgent } from "./core/agent-definition.ts";
export type { Checkpoint } from "./core/checkpoint-list.ts";
export type { EnvironmentDefinition, EnvironmentInput } from "./core/environment.ts";
export { CapstanError, type ErrorCode } from "./core/errors.ts";
export type { EventOf, EventType, LoggedEvent, ModelUsage, Preview, SessionEvent, StopReason } from "./core/events.ts";
export type { AskPermission, PermissionAnswer, PermissionQuestion } from "./core/approval.ts";
export type {
  AfterTool,
  BeforePrompt,
  BeforeTool,
  HookOptions,
  OnSessionEnd,
  OnTurnEnd,
  SessionHooks,
} from "./core/hooks.ts";
export type { MessageContent } from "./core/content.ts";
export type { StandardSchema } from "./core/standard-schema.ts";
export type { SessionState } from "./core/state.ts";
export type { SessionRecord, SessionSummary } from "./core/store.ts";
export type { Tool, ToolContext, ToolOutcome } from "./core/tool.ts";
export type { ApplyOutcome, CopyProgress, FileChange } from "./core/workspace.ts";
export type { ChangeStep } from "./runtime/change-steps.ts";
export type { Rewind, RewindRequest, SessionDiff } from "./runtime/files.ts";
export type { Runtime as Host } from "./runtime/runtime.ts";
export type { ForkOptions, ResumeOptions, SessionOptions, StartOptions } from "./runtime/session-options.ts";
export type { Session } from "./runtime/session.ts";
export type { StoredWorkspace } from "./runtime/stored-workspaces.ts";
export type { Turn, TurnResult } from "./runtime/turn.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export type { ToolReply } from "./tools/tool-reply.ts";
