import { z } from "zod";
import { BILLINGS } from "../money/ledger.ts";
import { modelUsage } from "../money/usage.ts";
import { onThread, stored } from "./fields.ts";

/** Model requests, as metered by the gateway. */

const span = { ...stored, ...onThread, model: z.string(), request_class: z.string() };
export const spanModelRequestStart = z.object({
  type: z.literal("span.model_request_start"),
  ...span,
  billing: z.enum(BILLINGS).optional(),
  /** Reserved before the request was sent. The request counts as this much if its end is never seen. */
  estimate: z
    .object({
      /** In tokens. */
      input: z.number(),
      cache: z.number(),
      output: z.number(),
      /** Null if the model's price is unknown. */
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
  /** List price; null if the model's price is unknown. */
  usd: z.number().nullable(),
  http_status: z.number().int().nullable(),
  /** Why the model stopped; null if the answer was incomplete. */
  stop_reason: z.string().nullable(),
  /** The provider did not report the final usage: the missing figures are those that were reserved or streamed. */
  estimated: z.boolean(),
  /** Who pays for it; absent in older logs, where it counts as paid. */
  billing: z.enum(BILLINGS).optional(),
  /** The tools whose results the request was the first to include; absent if there are none. */
  tools: z.array(z.string()).optional(),
});
