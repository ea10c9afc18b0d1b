import { z } from "zod";
import { onThread, stored } from "./fields.ts";

/** The status of the session and its threads. */

const stopReason = z.discriminatedUnion("type", [
  z.object({ type: z.literal("end_turn") }),
  z.object({ type: z.literal("requires_action"), event_ids: z.array(z.string()) }),
  z.object({ type: z.literal("retries_exhausted") }),
  z.object({ type: z.literal("budget_reached") }),
  z.object({ type: z.literal("refusal") }),
]);
const stopDetails = z.object({
  type: z.literal("refusal"),
  category: z.enum(["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"]).nullable(),
  explanation: z.string().nullable(),
});
const idle = { stop_reason: stopReason, stop_details: stopDetails.nullable() };

/** `goes_on`: a turn that waited for a person continues. */
export const sessionStatusRunning = z.object({
  type: z.literal("session.status_running"),
  ...stored,
  goes_on: z.literal(true).optional(),
});
/** `output` is the turn's structured output, present only if it matched the agent's schema. */
export const sessionStatusIdle = z.object({
  type: z.literal("session.status_idle"),
  ...stored,
  ...idle,
  output: z.unknown().optional(),
});
export const sessionStatusRescheduled = z.object({ type: z.literal("session.status_rescheduled"), ...stored });
export const sessionStatusTerminated = z.object({ type: z.literal("session.status_terminated"), ...stored });

const retryStatus = z.discriminatedUnion("type", [
  z.object({ type: z.literal("retrying") }),
  z.object({ type: z.literal("exhausted") }),
  z.object({ type: z.literal("terminal") }),
]);
/** `code` is one of core/errors.ts; `next_step` says what to do; `stderr` is the end of the engine's own output. */
const sessionErrorBody = z.object({
  type: z.enum([
    "unknown_error",
    "model_overloaded_error",
    "model_rate_limited_error",
    "model_request_failed_error",
    "billing_error",
  ]),
  message: z.string(),
  retry_status: retryStatus,
  /** For the end of a turn: how often it retried model requests, and whether sending the message again may help. */
  retries: z.int().optional(),
  retryable: z.boolean().optional(),
  code: z.string(),
  next_step: z.string().optional(),
  http_status: z.number().int().nullish(),
  retry_after_ms: z.number().optional(),
  /** How long the session waits for `next_step`. */
  waits_until: z.iso.datetime().optional(),
  stderr: z.string().optional(),
});
export const sessionError = z.object({
  type: z.literal("session.error"),
  ...stored,
  ...onThread,
  error: sessionErrorBody,
});

/** USD in the API's format: an integer number of cents as a decimal string; `usd` has the exact figure. */
const money = z.object({ amount: z.string(), currency: z.literal("USD") });
export const sessionUsage = z.object({
  type: z.literal("session.usage"),
  ...stored,
  usage: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_read_input_tokens: z.number(),
    cache_creation: z.object({
      ephemeral_5m_input_tokens: z.number(),
      ephemeral_1h_input_tokens: z.number().optional(),
    }),
    /** The share of the input that came from the cache, from 0 to 1; absent if there was no input. */
    cache_hit_rate: z.number().optional(),
    list_cost: money,
    usd: z.number(),
    /** Requests with an unknown price, not included in `usd`; absent if there are none. */
    unpriced_requests: z.number().int().optional(),
    /** The engine's own count for this turn, per model: the difference of its cumulative figures. */
    engine: z.record(z.string(), z.object({ input_tokens: z.number(), output_tokens: z.number(), usd: z.number() })),
  }),
});

/** Changes made to the session from outside; absent fields did not change. */
export const sessionUpdated = z.object({
  type: z.literal("session.updated"),
  ...stored,
  title: z.string().nullish(),
  /** The complete current metadata. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** Null if the session no longer has its own limit. */
  budget: z.object({ type: z.literal("limit"), max_list_cost: money }).nullish(),
});

const thread = { ...stored, session_thread_id: z.string(), agent_name: z.string() };
export const sessionThreadCreated = z.object({
  type: z.literal("session.thread_created"),
  ...thread,
  workflow_run_id: z.null(),
  /** Null if the primary thread started it. */
  parent_thread_id: z.string().nullable(),
  /** The call that started the subagent. */
  call_id: z.string(),
  task: z.string(),
});
/** `call_id`: the call that made it work again. */
export const sessionThreadStatusRunning = z.object({
  type: z.literal("session.thread_status_running"),
  ...thread,
  call_id: z.string().optional(),
});
export const sessionThreadStatusIdle = z.object({ type: z.literal("session.thread_status_idle"), ...thread, ...idle });
export const sessionThreadStatusTerminated = z.object({
  type: z.literal("session.thread_status_terminated"),
  ...thread,
});

export type StopReason = z.infer<typeof stopReason>;
export type SessionErrorBody = z.infer<typeof sessionErrorBody>;
