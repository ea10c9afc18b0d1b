import { z } from "zod";
import { BILLINGS } from "../money/ledger.ts";
import { modelUsage } from "../money/usage.ts";
import { onThread, stored } from "./fields.ts";

/** Model requests, as the gateway metered them. */

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
