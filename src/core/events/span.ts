import { z } from "zod";
import { BILLINGS } from "../ledger.ts";
import { onThread, stored } from "./fields.ts";

/** Model requests, as the gateway metered them. */

const modelUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  /** The part of `cache_creation_input_tokens` that is kept for an hour; absent when there is none. */
  cache_creation_1h_input_tokens: z.number().optional(),
  /** Searches that the API itself made; absent when there were none. */
  web_search_requests: z.number().optional(),
});
/** The thread is `UNATTRIBUTED` when the request did not say which line of the session it belongs to. */
const span = { ...stored, ...onThread, model: z.string(), request_class: z.string() };
export const spanModelRequestStart = z.object({
  type: z.literal("span.model_request_start"),
  ...span,
  billing: z.enum(BILLINGS).optional(),
  /** What was estimated before it was sent, in tokens. It is what the request counts as if a crash hides its end. */
  estimate: z.object({ input: z.number(), cache: z.number(), output: z.number() }).optional(),
});
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
  /** Who pays for it; absent in logs of earlier versions, where it counts as paid. */
  billing: z.enum(BILLINGS).optional(),
  /** The tools whose results the request was the first to read; absent when it read none. */
  tools: z.array(z.string()).optional(),
});

export type ModelUsage = z.infer<typeof modelUsage>;
