import { z } from "zod";
import { onThread, stored } from "./fields.ts";

/** Model requests, as the gateway metered them. */

const modelUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
});
/** The thread is `UNATTRIBUTED` when the request did not say which line of the session it belongs to. */
const span = { ...stored, ...onThread, model: z.string(), request_class: z.string() };
export const spanModelRequestStart = z.object({ type: z.literal("span.model_request_start"), ...span });
export const spanModelRequestEnd = z.object({
  type: z.literal("span.model_request_end"),
  ...span,
  model_request_start_id: z.string(),
  is_error: z.boolean().nullable(),
  model_usage: modelUsage,
  /** List price; null when the model has no known price. */
  usd: z.number().nullable(),
  http_status: z.number().int().nullable(),
  /** Why the model stopped; null when the answer did not come to its end. */
  stop_reason: z.string().nullable(),
  /** Usage was cut short, so the output tokens are estimated from what was streamed. */
  estimated: z.boolean(),
});

export type ModelUsage = z.infer<typeof modelUsage>;
