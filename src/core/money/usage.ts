import { z } from "zod";

/** Tokens of one model request. */
export const modelUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  /** The part of `cache_creation_input_tokens` that is cached for an hour; absent if there is none. */
  cache_creation_1h_input_tokens: z.number().optional(),
  /** Searches that the API made; absent if there were none. */
  web_search_requests: z.number().optional(),
});

export type ModelUsage = z.infer<typeof modelUsage>;
