import { z } from "zod";

/** Fields shared by many events. */

/** Set by the runtime when the event is saved. */
export const stored = { id: z.string(), processed_at: z.string() };
/** User input is saved when it arrives; `capstan.input_delivered` says when the engine accepted it. */
export const received = { id: z.string(), processed_at: z.string().nullish() };
export const onThread = { session_thread_id: z.string().nullish() };
export const toolOutcome = z.enum(["completed", "failed", "denied", "aborted"]);
export const toolInput = z.record(z.string(), z.unknown());
