import { z } from "zod";
import { BILLINGS } from "../money/ledger.ts";
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
const span = { ...stored, ...onThread, model: z.string(), request_class: z.string() };
export const spanModelRequestStart = z.object({
  type: z.literal("span.model_request_start"),
  ...span,
  billing: z.enum(BILLINGS).optional(),
  /** What was reserved before it was sent. It is what the request counts as if nobody sees its end. */
  estimate: z
    .object({
      /** In tokens. */
      input: z.number(),
      cache: z.number(),
      output: z.number(),
      /** Null when the model has no known price. */
      usd: z.number().nullable().optional(),
    })
    .optional(),
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
  /** The provider did not say the final usage: what it left open counts as what was reserved, or as what was streamed. */
  estimated: z.boolean(),
  /** Who pays for it; absent in logs of earlier versions, where it counts as paid. */
  billing: z.enum(BILLINGS).optional(),
  /** The tools whose results the request was the first to read; absent when it read none. */
  tools: z.array(z.string()).optional(),
});

export type ModelUsage = z.infer<typeof modelUsage>;
