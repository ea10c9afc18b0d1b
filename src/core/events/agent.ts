import { z } from "zod";
import { agentContent, toolContent } from "./content.ts";
import { onThread, stored, toolInput, toolOutcome } from "./fields.ts";

/** Events of the agent. */

/** `message_id` groups the blocks of one model message, so that a rebuilt history has the same boundaries. */
const fromModel = { ...onThread, message_id: z.string().optional() };

export const agentMessage = z.object({
  type: z.literal("agent.message"),
  ...stored,
  ...fromModel,
  content: agentContent,
});
/** Text and signature are kept: the model needs its own thinking when a history is rebuilt. */
export const agentThinking = z.object({
  type: z.literal("agent.thinking"),
  ...stored,
  ...fromModel,
  thinking: z.string(),
  signature: z.string(),
});
/** `call_id` is the model's id of the call; `id` is ours, and what results and confirmations refer to. */
const toolUse = {
  ...stored,
  ...fromModel,
  call_id: z.string(),
  name: z.string(),
  /** The engine's own name for the tool, needed to rebuild its history. */
  engine_name: z.string(),
  input: toolInput,
};
const toolResult = {
  ...stored,
  ...onThread,
  call_id: z.string(),
  outcome: toolOutcome,
  content: toolContent.optional(),
  is_error: z.boolean().nullish(),
  /** Details for people that the model did not get: a stack trace, the part that was cut off. */
  detail: z.string().optional(),
  /**
   * `content` is only a part of the tool's output. The whole output is saved next to the log under this SHA-256, if
   * there was room: `bytes` of its `total` bytes.
   */
  whole_output: z.object({ hash: z.string().optional(), bytes: z.number().int(), total: z.number().int() }).optional(),
};
export const agentToolUse = z.object({ type: z.literal("agent.tool_use"), ...toolUse });
export const agentMcpToolUse = z.object({
  type: z.literal("agent.mcp_tool_use"),
  ...toolUse,
  mcp_server_name: z.string(),
});
/** The tool runs in a client; the call ends with `user.custom_tool_result`. */
export const agentCustomToolUse = z.object({ type: z.literal("agent.custom_tool_use"), ...toolUse });
export const agentToolResult = z.object({
  type: z.literal("agent.tool_result"),
  ...toolResult,
  tool_use_id: z.string(),
});
export const agentMcpToolResult = z.object({
  type: z.literal("agent.mcp_tool_result"),
  ...toolResult,
  mcp_tool_use_id: z.string(),
});
/** From here on, the model sees `summary` instead of earlier messages. */
export const agentThreadContextCompacted = z.object({
  type: z.literal("agent.thread_context_compacted"),
  ...stored,
  ...onThread,
  trigger: z.enum(["manual", "auto"]),
  tokens_before: z.number().int(),
  tokens_after: z.number().int().optional(),
  summary: z.string(),
  /** What the model still sees verbatim after the summary, and where it begins in the log. */
  kept: z.object({ event_ids: z.array(z.string()), message_ids: z.array(z.string()), from_seq: z.number().int() }),
});
