import { z } from "zod";
import { sessionBudget } from "../money/budget-schema.ts";
import { SCOPES } from "../money/budget-scopes.ts";
import { callSubject, toolTraits } from "../rules/subject.ts";
import { onThread, stored, toolInput } from "./fields.ts";

/** Facts the API has no word for. */

/** The engine took these user messages; they are part of the conversation from here on. */
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
  /** What the engine's own prompt has, which stands before them; absent when there is none, or when nobody knows. */
  engine_prompt_chars: z.number().int().optional(),
  tools: z.array(z.string()),
  cwd: z.string(),
  engine: z.string(),
  engine_version: z.string(),
});
/** What whoever started the session told the agent, and the defaults of what they did not. */
export const inputsGiven = z.object({
  type: z.literal("capstan.inputs_given"),
  ...stored,
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
/** The workspace has words for agents. They are part of the instructions when the agent's `setting_sources` say so. */
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
  /** Who or what decided: `rule:deny Bash`, `mode:read-only`, `caller`, … */
  decided_by: z.string(),
  reason: z.string(),
  /** Present when the decision changed the input: what really ran. */
  input: toolInput.optional(),
  /** The approval that was answered. */
  approval_id: z.string().optional(),
  /** What the decision looked at, so that changed rules can be tried on it: what the call is about, … */
  subject: callSubject.optional(),
  /** … the session's mode, … */
  mode: z.string().optional(),
  /** … and what the tool can do. */
  traits: toolTraits.optional(),
});
/** A hook was run: a command of the agent, or a function of the program. */
export const hookRan = z.object({
  type: z.literal("capstan.hook_ran"),
  ...stored,
  ...onThread,
  hook: z.enum(["before_prompt", "before_tool", "after_tool", "on_turn_end", "on_session_end"]),
  name: z.string(),
  /** For hooks on tools. */
  call_id: z.string().optional(),
  /** Whether one that `failed` also denied is for the decision to say: that depends on its `on_failure`. */
  outcome: z.enum(["passed", "changed", "denied", "failed"]),
  duration_ms: z.number(),
  /** Why it denied, or how it failed. */
  message: z.string().optional(),
});
/**
 * A person is asked, or a client for the result of a custom tool. The session waits until that is answered, however long
 * it takes and whatever process is there.
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
  /** Where a shell command starts, when that is not the workspace. */
  directory: z.string().optional(),
  /** One line that says what would happen. */
  title: z.string(),
  /** For an edit: the change, as a unified diff. */
  diff: z.string().optional(),
  /** For a shell command: each program it would run. */
  commands: z.array(z.string()).optional(),
  /** The subagent that asks; absent on the primary line. */
  agent: z.string().optional(),
  /** The MCP server that asks while its call runs. Its question ends with the process, and decides nothing about the call. */
  server: z.string().optional(),
  /** The rule or the default that asked, and why. */
  asked_by: z.string(),
  reason: z.string(),
  traits: toolTraits,
  /** The rules that a remembered answer would save; empty when it may not be remembered. */
  remember: z.array(z.string()),
  /** From then on it counts as denied; null for never. */
  expires_at: z.string().nullable(),
});
/** What an MCP server asked was answered, or will not be any more. */
export const elicitationSettled = z.object({
  type: z.literal("capstan.elicitation_settled"),
  ...stored,
  ...onThread,
  approval_id: z.string(),
  /** The call that was running. */
  call_id: z.string(),
  tool_use_id: z.string(),
  server: z.string(),
  action: z.enum(["accept", "decline", "cancel"]),
  decided_by: z.string(),
  reason: z.string(),
  /** What the server was told. */
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
const limitName = z.enum([
  "usd",
  "tokens",
  "input_tokens",
  "output_tokens",
  "cache_tokens",
  "turns",
  "steps",
  "tool_calls",
  "deadline",
  // Of the environment, for all processes of the session together.
  "memory_bytes",
  "processes",
  "cpu_seconds",
]);
const budgetScope = z.enum(SCOPES);
export const limitReached = z.object({
  type: z.literal("capstan.limit_reached"),
  ...stored,
  which: limitName,
  limit: z.number(),
  spent: z.number(),
  /** Whose limit it is; absent in logs of earlier versions, where it is the session's. */
  scope: budgetScope.optional(),
  /** Held for requests under way, and what the refused request was estimated to need. */
  reserved: z.number().optional(),
  needed: z.number().optional(),
});
/** A share of a limit is spent. Told once for each limit; with `ask` a person has agreed to go on. */
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
  /** For `ask`: who agreed that the session goes on. Absent when the share was just reached, and nobody was asked yet. */
  agreed_by: z.string().optional(),
});
/** Limits of the session that are in force from here on, in place of those it was started with. */
export const budgetChanged = z.object({
  type: z.literal("capstan.budget_changed"),
  ...stored,
  budget: sessionBudget,
});
export const modelChanged = z.object({ type: z.literal("capstan.model_changed"), ...stored, model: z.string() });
export const modeChanged = z.object({ type: z.literal("capstan.mode_changed"), ...stored, mode: z.string() });
/** In force from the next turn on: a turn that is under way ends on the engine that it began on. */
export const engineChanged = z.object({
  type: z.literal("capstan.engine_changed"),
  ...stored,
  engine: z.string(),
  /** The one that was in force until then. */
  from: z.string(),
});
export const processStarted = z.object({
  type: z.literal("capstan.process_started"),
  ...stored,
  /** Absent when the engine runs in the host and the session has no process of its own. */
  pid: z.number().int().optional(),
  /** Absent in logs of earlier versions. */
  engine: z.string().optional(),
  /** How the engine came to its history: nothing to know, its own transcript, or one rebuilt from this log. */
  history: z.enum(["new", "resumed", "reseeded"]),
  /** Whether all it starts is sure to die with it and with the host. */
  contained: z.boolean(),
  /** Whether commands are confined; `unavailable` when they should be and are not. Absent in logs of earlier versions. */
  sandbox: z.enum(["on", "off", "unavailable"]).optional(),
  /** For `unavailable`: what is missing. */
  sandbox_missing: z.string().optional(),
  /** What runs outside of a sandbox that is on: MCP servers and excluded commands. */
  outside: z.array(z.string()).optional(),
});
/** A model message that was cut off and asked for again; it is no part of the conversation any more. */
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
/** Nothing more will happen in the session; its log stays. */
export const sessionArchived = z.object({ type: z.literal("capstan.session_archived"), ...stored });
export const sessionForked = z.object({
  type: z.literal("capstan.session_forked"),
  ...stored,
  from_session_id: z.string(),
  from_seq: z.number().int(),
});
