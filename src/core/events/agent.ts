import { z } from "zod";
import { agentContent, toolContent } from "./content.ts";
import { onThread, stored, toolInput, toolOutcome } from "./fields.ts";

/** What the agent does. */

/** `message_id` joins the blocks of one model message: a history is rebuilt with the same borders. */
const fromModel = { ...onThread, message_id: z.string().optional() };

export const agentMessage = z.object({
  type: z.literal("agent.message"),
  ...stored,
  ...fromModel,
  content: agentContent,
});
/** Text and signature are kept: the model must get its own thinking back when a history is rebuilt. */
export const agentThinking = z.object({
  type: z.literal("agent.thinking"),
  ...stored,
  ...fromModel,
  thinking: z.string(),
  signature: z.string(),
});
/** `call_id` is the id the model gave the call; `id` is ours, and what results and confirmations refer to. */
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
  /** What a person may want to know beyond what the model was told: a stack, the part that was cut off. */
  detail: z.string().optional(),
  /**
   * `content` is only a part of what the tool gave. The whole is kept beside the log under this SHA-256, unless there was no
   * room: `bytes` of the `total` that there were.
   */
  whole_output: z.object({ hash: z.string().optional(), bytes: z.number().int(), total: z.number().int() }).optional(),
};
export const agentToolUse = z.object({ type: z.literal("agent.tool_use"), ...toolUse });
export const agentMcpToolUse = z.object({
  type: z.literal("agent.mcp_tool_use"),
  ...toolUse,
  mcp_server_name: z.string(),
});
/** The tool runs in a client; `user.custom_tool_result` is its end. */
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
/** From here on the model sees `summary` instead of what came before. */
export const agentThreadContextCompacted = z.object({
  type: z.literal("agent.thread_context_compacted"),
  ...stored,
  ...onThread,
  trigger: z.enum(["manual", "auto"]),
  tokens_before: z.number().int(),
  tokens_after: z.number().int().optional(),
  summary: z.string(),
  /** What the model still sees word for word after the summary, and where in the log it begins. */
  kept: z.object({ event_ids: z.array(z.string()), message_ids: z.array(z.string()), from_seq: z.number().int() }),
});
