import { z } from "zod";
import { onThread, stored } from "./fields.ts";

/** What becomes of the session and its threads. */

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

/** `goes_on`: the turn that waited for a person goes on. */
export const sessionStatusRunning = z.object({
  type: z.literal("session.status_running"),
  ...stored,
  goes_on: z.literal(true).optional(),
});
/** `output` is the structured output of the turn, present only when it matched the agent's schema. */
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
/** `code` is a code of core/errors.ts; `next_step` tells a person what to do; `stderr` is the tail of the engine's own words. */
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
  /** For the end of a turn: how often a model request was retried in it, and whether sending the message again may help. */
  retries: z.int().optional(),
  retryable: z.boolean().optional(),
  code: z.string(),
  next_step: z.string().optional(),
  http_status: z.number().int().nullish(),
  retry_after_ms: z.number().optional(),
  /** How long the session waits for what `next_step` asks for. */
  waits_until: z.iso.datetime().optional(),
  stderr: z.string().optional(),
});
export const sessionError = z.object({
  type: z.literal("session.error"),
  ...stored,
  ...onThread,
  error: sessionErrorBody,
});

/** USD as the API writes money: an integer decimal string of cents; `usd` keeps the exact figure. */
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
    /** The share of what the model was told that its cache had, from 0 to 1; absent when it was told nothing. */
    cache_hit_rate: z.number().optional(),
    list_cost: money,
    usd: z.number(),
    /** Requests whose price is not known, and not in `usd`; absent when there are none. */
    unpriced_requests: z.number().int().optional(),
    /** What the engine itself counted for this turn, per model: the difference of its cumulative figures. */
    engine: z.record(z.string(), z.object({ input_tokens: z.number(), output_tokens: z.number(), usd: z.number() })),
  }),
});

/** What was changed of the session from outside: what is absent stayed as it was. */
export const sessionUpdated = z.object({
  type: z.literal("session.updated"),
  ...stored,
  title: z.string().nullish(),
  /** All of it, as it is now. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** Null when the session has no limit of its own any more. */
  budget: z.object({ type: z.literal("limit"), max_list_cost: money }).nullish(),
});

const thread = { ...stored, session_thread_id: z.string(), agent_name: z.string() };
export const sessionThreadCreated = z.object({
  type: z.literal("session.thread_created"),
  ...thread,
  workflow_run_id: z.null(),
  /** Null when the primary line started it. */
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
