import { z } from "zod";
import { limitName, sessionBudget } from "../money/budget-schema.ts";
import { SCOPES } from "../money/budget-scopes.ts";
import { callSubject, toolTraits } from "../rules/subject.ts";
import { onThread, stored, toolInput } from "./fields.ts";

/** Events that the API does not have. */

/** The engine accepted these user messages; they are part of the conversation from here on. */
export const inputDelivered = z.object({
  type: z.literal("capstan.input_delivered"),
  ...stored,
  event_ids: z.array(z.string()),
});
export const promptRendered = z.object({
  type: z.literal("capstan.prompt_rendered"),
  ...stored,
  model: z.string(),
  instructions_sha256: z.string(),
  /** Absent in logs of earlier versions. */
  instructions_chars: z.number().int().optional(),
  /** Length of the engine's own prompt that precedes them; absent if there is none, or it is unknown. */
  engine_prompt_chars: z.number().int().optional(),
  tools: z.array(z.string()),
  cwd: z.string(),
  engine: z.string(),
  engine_version: z.string(),
});
/** The inputs that the session was started with, including defaults. */
export const inputsGiven = z.object({
  type: z.literal("capstan.inputs_given"),
  ...stored,
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
/** The workspace has instructions for agents. They are used if the agent's `setting_sources` say so. */
export const projectFileFound = z.object({
  type: z.literal("capstan.project_file_found"),
  ...stored,
  /** Relative to the workspace. */
  path: z.string(),
  used: z.boolean(),
  bytes: z.number().int(),
});
export const permissionDecided = z.object({
  type: z.literal("capstan.permission_decided"),
  ...stored,
  ...onThread,
  call_id: z.string(),
  tool_use_id: z.string(),
  tool: z.string(),
  decision: z.enum(["allow", "deny"]),
  /** What decided: `rule:deny Bash`, `mode:read-only`, `caller`, … */
  decided_by: z.string(),
  reason: z.string(),
  /** The input that was actually used, if the decision changed it. */
  input: toolInput.optional(),
  /** The approval that was answered. */
  approval_id: z.string().optional(),
  /** What the decision was based on, so that it can be replayed with other rules: the call's subject, … */
  subject: callSubject.optional(),
  /** … the session's mode, … */
  mode: z.string().optional(),
  /** … and the tool's traits. */
  traits: toolTraits.optional(),
});
/** A hook ran: a command of the agent, or a function of the program. */
export const hookRan = z.object({
  type: z.literal("capstan.hook_ran"),
  ...stored,
  ...onThread,
  hook: z.enum(["before_prompt", "before_tool", "after_tool", "on_turn_end", "on_session_end"]),
  name: z.string(),
  /** For tool hooks. */
  call_id: z.string().optional(),
  /** Whether a `failed` hook also denied depends on its `on_failure`; the decision says so. */
  outcome: z.enum(["passed", "changed", "denied", "failed"]),
  duration_ms: z.number(),
  /** Why it denied, or how it failed. */
  message: z.string().optional(),
});
/**
 * Asks a person, or a client for the result of a custom tool. The session waits for the answer, however long it takes
 * and even if its process ends.
 */
export const approvalRequested = z.object({
  type: z.literal("capstan.approval_requested"),
  ...stored,
  ...onThread,
  approval_id: z.string(),
  kind: z.enum(["tool", "plan", "question", "custom_tool"]),
  call_id: z.string(),
  tool_use_id: z.string(),
  tool: z.string(),
  input: toolInput,
  /** Where a shell command starts, if not in the workspace. */
  directory: z.string().optional(),
  /** One line that describes the action. */
  title: z.string(),
  /** For an edit: the change, as a unified diff. */
  diff: z.string().optional(),
  /** For a shell command: each program it would run. */
  commands: z.array(z.string()).optional(),
  /** The subagent that asks; absent on the primary thread. */
  agent: z.string().optional(),
  /** The MCP server that asks while its call runs. Its question ends with the process, and does not decide the call. */
  server: z.string().optional(),
  /** The rule or the default that asked, and why. */
  asked_by: z.string(),
  reason: z.string(),
  traits: toolTraits,
  /** The rules that a remembered answer would save; empty if it can't be remembered. */
  remember: z.array(z.string()),
  /** When it counts as denied; null for never. */
  expires_at: z.string().nullable(),
});
/** A question of an MCP server was answered, or no longer can be. */
export const elicitationSettled = z.object({
  type: z.literal("capstan.elicitation_settled"),
  ...stored,
  ...onThread,
  approval_id: z.string(),
  /** The running call. */
  call_id: z.string(),
  tool_use_id: z.string(),
  server: z.string(),
  action: z.enum(["accept", "decline", "cancel"]),
  decided_by: z.string(),
  reason: z.string(),
  /** The answer that the server got. */
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
});
export const toolProgress = z.object({
  type: z.literal("capstan.tool_progress"),
  ...stored,
  ...onThread,
  call_id: z.string(),
  elapsed_seconds: z.number(),
  text: z.string().optional(),
});
const budgetScope = z.enum(SCOPES);
export const limitReached = z.object({
  type: z.literal("capstan.limit_reached"),
  ...stored,
  which: limitName,
  limit: z.number(),
  spent: z.number(),
  /** The limit's scope; absent in older logs, where it is the session. */
  scope: budgetScope.optional(),
  /** Reserved for running requests, and the refused request's estimate. */
  reserved: z.number().optional(),
  needed: z.number().optional(),
});
/** A share of a limit is spent. Reported once per limit; with `ask`, a person agreed to continue. */
export const budgetWarned = z.object({
  type: z.literal("capstan.budget_warned"),
  ...stored,
  kind: z.enum(["warn", "ask"]),
  scope: budgetScope,
  which: limitName,
  limit: z.number(),
  spent: z.number(),
  /** The share, from 0 to 1. */
  at: z.number(),
  /** For the limit of a day: its date. */
  day: z.string().optional(),
  /** For `ask`: who agreed to continue. Absent when the share was just reached and nobody was asked yet. */
  agreed_by: z.string().optional(),
});
/** The session's limits from here on, replacing those it was started with. */
export const budgetChanged = z.object({
  type: z.literal("capstan.budget_changed"),
  ...stored,
  budget: sessionBudget,
});
export const modelChanged = z.object({ type: z.literal("capstan.model_changed"), ...stored, model: z.string() });
export const modeChanged = z.object({ type: z.literal("capstan.mode_changed"), ...stored, mode: z.string() });
/** Takes effect with the next turn: a running turn ends on the engine it started on. */
export const engineChanged = z.object({
  type: z.literal("capstan.engine_changed"),
  ...stored,
  engine: z.string(),
  /** The previous engine. */
  from: z.string(),
});
export const processStarted = z.object({
  type: z.literal("capstan.process_started"),
  ...stored,
  /** Absent if the engine runs in the host and the session has no process. */
  pid: z.number().int().optional(),
  /** Absent in logs of earlier versions. */
  engine: z.string().optional(),
  /** Where the engine got its history: none needed, its own transcript, or rebuilt from this log. */
  history: z.enum(["new", "resumed", "reseeded"]),
  /** Whether everything it starts is guaranteed to end with it and with the host. */
  contained: z.boolean(),
  /** Whether commands are confined; `unavailable` if they should be and are not. Absent in older logs. */
  sandbox: z.enum(["on", "off", "unavailable"]).optional(),
  /** For `unavailable`: what is missing. */
  sandbox_missing: z.string().optional(),
  /** What runs outside an active sandbox: MCP servers and excluded commands. */
  outside: z.array(z.string()).optional(),
});
/** A model message that was cut off and requested again; it is no longer part of the conversation. */
export const messageWithdrawn = z.object({
  type: z.literal("capstan.message_withdrawn"),
  ...stored,
  ...onThread,
  message_id: z.string(),
});
export const processLost = z.object({
  type: z.literal("capstan.process_lost"),
  ...stored,
  reason: z.string(),
  stderr: z.string(),
});
/** The session is closed for good; its log stays. */
export const sessionArchived = z.object({ type: z.literal("capstan.session_archived"), ...stored });
export const sessionForked = z.object({
  type: z.literal("capstan.session_forked"),
  ...stored,
  from_session_id: z.string(),
  from_seq: z.number().int(),
});
