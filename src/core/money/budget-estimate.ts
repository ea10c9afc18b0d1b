import type { ModelUsage } from "./usage.ts";

/** The possible cost of a model request, estimated before it is sent. */

/** With fewer answers, a percentile is meaningless. */
const ENOUGH_OUTPUTS = 5;
/** Older answers say little about the next one. */
export const REMEMBERED_OUTPUTS = 100;

/** A request's size, read from its body. */
export interface RequestSize {
  /** Estimated tokens of the whole prompt: instructions, tools, messages, images and documents. */
  readonly inputTokens: number;
  /** The request's limit for the answer, in tokens. */
  readonly maxTokens: number | undefined;
  /** The answer is streamed, so most of the generated output is seen. */
  readonly isStream: boolean;
  /** How long the provider caches the prompt. Writing the cache costs more than reading it. */
  readonly cached: "no" | "5m" | "1h";
  /** The maximum number of web searches that the provider may make. */
  readonly webSearches: number;
}

/** What is known from a session's earlier requests. */
export interface Experience {
  /** Output tokens of the last answers. */
  readonly outputs: readonly number[];
  /** The last answered request: its estimated tokens, and its actual usage. */
  readonly last?: { readonly inputTokens: number; readonly usage: ModelUsage } | undefined;
}

/** `input`: the answer started, but its end with the final usage did not arrive. */
export type Proven = "nothing" | "input" | "all";

/** Tokens, and the most expensive way the provider could bill them. */
export interface Estimate {
  readonly input: number;
  readonly cache: number;
  readonly output: number;
  readonly usage: ModelUsage;
}

const NOTHING: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

export const NO_ESTIMATE: Estimate = { input: 0, cache: 0, output: 0, usage: NOTHING };

export function estimate(
  size: RequestSize,
  { experience, reserveOutputTokens }: { experience: Experience; reserveOutputTokens: number },
): Estimate {
  const prompt = estimatePrompt(size.inputTokens, experience);
  const cache = Math.floor(prompt * cachedShare(experience));
  // Never less than configured: many short answers must not make a long one look short.
  const usual = experience.outputs.length < ENOUGH_OUTPUTS ? 0 : percentile(experience.outputs, 0.95);
  const likely = Math.max(usual, reserveOutputTokens);
  // A non-streaming answer is seen completely or not at all, and may have been generated to its limit.
  const output = size.isStream ? Math.min(likely, size.maxTokens ?? likely) : (size.maxTokens ?? likely);
  return { input: prompt - cache, cache, output, usage: dearest(prompt, output, size) };
}

/** Whether the prompt is still cached is known only afterwards. */
function dearest(prompt: number, output: number, { cached, webSearches }: RequestSize): ModelUsage {
  return {
    ...NOTHING,
    output_tokens: output,
    ...(cached === "no" ? { input_tokens: prompt } : { cache_creation_input_tokens: prompt }),
    ...(cached === "1h" && { cache_creation_1h_input_tokens: prompt }),
    ...(webSearches > 0 && { web_search_requests: webSearches }),
  };
}

/**
 * The usage that a request counts as: the provider's figures and, where they are missing, what was reserved. An aborted
 * request costs money, and a command that hangs up must not get it for free.
 */
export function settledUsage(
  { usage, proven }: { readonly usage: ModelUsage; readonly proven: Proven },
  held: Estimate,
): ModelUsage {
  if (proven === "all") return usage;
  const output = Math.max(usage.output_tokens, held.output);
  const searches = Math.max(usage.web_search_requests ?? 0, held.usage.web_search_requests ?? 0);
  const unknown = { output_tokens: output, ...(searches > 0 && { web_search_requests: searches }) };
  if (proven === "input") return { ...usage, ...unknown };
  return { ...NOTHING, ...unknown, input_tokens: held.input, cache_creation_input_tokens: held.cache };
}

/**
 * Corrected upwards if the last request had more tokens than estimated, never downwards: the requester chooses the
 * text.
 */
function estimatePrompt(inputTokens: number, { last }: Experience): number {
  const known = last === undefined ? 0 : promptTokens(last.usage);
  if (last === undefined || last.inputTokens === 0) return inputTokens;
  return Math.ceil(inputTokens * Math.max(1, known / last.inputTokens));
}

function cachedShare({ last }: Experience): number {
  const all = last === undefined ? 0 : promptTokens(last.usage);
  return last === undefined || all === 0 ? 0 : 1 - last.usage.input_tokens / all;
}

function promptTokens(usage: ModelUsage): number {
  return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

/** The smallest value that at least this share of the values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
