import { z } from "zod";
import { messageContent, toolContent } from "./content.ts";
import { onThread, received, toolOutcome } from "./fields.ts";

/** Events of users. */

export const userMessage = z.object({
  type: z.literal("user.message"),
  ...received,
  content: messageContent,
  /** The original text, if it was one of the agent's slash commands: `content` is its expansion. */
  command: z.string().optional(),
});
export const userInterrupt = z.object({ type: z.literal("user.interrupt"), ...received, ...onThread });
export const userToolConfirmation = z.object({
  type: z.literal("user.tool_confirmation"),
  ...received,
  ...onThread,
  tool_use_id: z.string(),
  result: z.enum(["allow", "deny"]),
  deny_message: z.string().nullish(),
  /** Not in the API: the approval that it answers, who answered from where, and what is remembered. */
  approval_id: z.string().optional(),
  by: z.string().optional(),
  from: z.string().optional(),
  scope: z.enum(["once", "session", "project", "always"]).optional(),
  rules: z.array(z.string()).optional(),
  /** For a question: question → answer. */
  answers: z.record(z.string(), z.string()).optional(),
});
/** The end of a call that a client runs, including denied and canceled ones: see `outcome`. */
export const userCustomToolResult = z.object({
  type: z.literal("user.custom_tool_result"),
  ...received,
  ...onThread,
  custom_tool_use_id: z.string(),
  content: toolContent.optional(),
  is_error: z.boolean().nullish(),
  /** Not in the API: the model's id of the call, its outcome, and who gave the result from where. */
  call_id: z.string().optional(),
  outcome: toolOutcome.optional(),
  by: z.string().optional(),
  from: z.string().optional(),
});
