import { z } from "zod";

/** Fields that many events share. */

/** Written by the runtime when the fact is stored. */
export const stored = { id: z.string(), processed_at: z.string() };
/** What a user sends is stored when it arrives; `capstan.input_delivered` says when the engine took it. */
export const received = { id: z.string(), processed_at: z.string().nullish() };
export const onThread = { session_thread_id: z.string().nullish() };
export const toolOutcome = z.enum(["completed", "failed", "denied", "aborted"]);
export const toolInput = z.record(z.string(), z.unknown());
