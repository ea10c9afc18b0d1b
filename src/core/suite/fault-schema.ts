import { z } from "zod";

/** An injected fault at a model request of the case. */
export const fault = z.strictObject({
  /** The number of the request on the primary thread, or of all subagents together, from 1; retries count. */
  at: z.number().int().positive(),
  thread: z.enum(["main", "subagent"]).default("main"),
  /**
   * `stall`: no more bytes come; `drop`: the connection ends in the middle; `garbage`: the response is not an answer;
   * `kill`: the agent's process is killed.
   */
  kind: z.union([z.literal([429, 500, 529]), z.enum(["stall", "drop", "garbage", "kill"])]),
  /** How many requests in a row. */
  times: z.number().int().positive().default(1),
  /** For 429 and 529: seconds in `retry-after`. */
  retry_after: z.number().min(0).optional(),
});

export type Fault = z.infer<typeof fault>;
