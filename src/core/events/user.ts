import { z } from "zod";
import { messageContent, toolContent } from "../content.ts";
import { onThread, received } from "./fields.ts";

/** What users say. */

export const userMessage = z.object({ type: z.literal("user.message"), ...received, content: messageContent });
export const userInterrupt = z.object({ type: z.literal("user.interrupt"), ...received, ...onThread });
export const userToolConfirmation = z.object({
  type: z.literal("user.tool_confirmation"),
  ...received,
  ...onThread,
  tool_use_id: z.string(),
  result: z.enum(["allow", "deny"]),
  deny_message: z.string().nullish(),
  /** What the API does not ask for: which approval it answers, who did so from where, and what is remembered. */
  approval_id: z.string().optional(),
  by: z.string().optional(),
  from: z.string().optional(),
  scope: z.enum(["once", "session", "project", "always"]).optional(),
  rules: z.array(z.string()).optional(),
});
export const userCustomToolResult = z.object({
  type: z.literal("user.custom_tool_result"),
  ...received,
  ...onThread,
  custom_tool_use_id: z.string(),
  content: toolContent.optional(),
  is_error: z.boolean().nullish(),
});
