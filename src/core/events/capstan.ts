import { z } from "zod";
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
  tools: z.array(z.string()),
  cwd: z.string(),
  engine: z.string(),
  engine_version: z.string(),
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
});
export const toolProgress = z.object({
  type: z.literal("capstan.tool_progress"),
  ...stored,
  ...onThread,
  call_id: z.string(),
  elapsed_seconds: z.number(),
  text: z.string().optional(),
});
export const limitReached = z.object({
  type: z.literal("capstan.limit_reached"),
  ...stored,
  which: z.enum(["usd", "tokens", "turns", "steps", "tool_calls", "deadline"]),
  limit: z.number(),
  spent: z.number(),
});
export const modelChanged = z.object({ type: z.literal("capstan.model_changed"), ...stored, model: z.string() });
export const modeChanged = z.object({ type: z.literal("capstan.mode_changed"), ...stored, mode: z.string() });
export const processStarted = z.object({
  type: z.literal("capstan.process_started"),
  ...stored,
  pid: z.number().int(),
  /** How the engine came to its history: nothing to know, its own transcript, or one rebuilt from this log. */
  history: z.enum(["new", "resumed", "reseeded"]),
  /** Whether all it starts is sure to die with it and with the host. */
  contained: z.boolean(),
});
/** A model message that was cut off and asked for again; it is no part of the conversation any more. */
export const messageWithdrawn = z.object({
  type: z.literal("capstan.message_withdrawn"),
  ...stored,
  message_id: z.string(),
});
export const processLost = z.object({
  type: z.literal("capstan.process_lost"),
  ...stored,
  reason: z.string(),
  stderr: z.string(),
});
export const sessionForked = z.object({
  type: z.literal("capstan.session_forked"),
  ...stored,
  from_session_id: z.string(),
  from_seq: z.number().int(),
});
