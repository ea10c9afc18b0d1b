import type { ModelRequestOutcome } from "../ports/gateway.ts";
import type { ModelUsage } from "../events/events.ts";

/** What a model request may come to, worked out before it is sent. */

/** With fewer answers than this a percentile says nothing. */
const ENOUGH_OUTPUTS = 5;
/** Older answers say little about the next one. */
export const REMEMBERED_OUTPUTS = 100;

/** A request as its body shows it. */
export interface RequestSize {
  /** Tokens of the whole prompt, by the usual measure: instructions, tools, messages, images and documents. */
  readonly inputTokens: number;
  /** The most that the request lets the model answer, in tokens. */
  readonly maxTokens: number | undefined;
  /** The answer comes piece by piece, so that most of what was generated is seen. */
  readonly isStream: boolean;
  /** For how long it has the provider keep its prompt. To write it there costs more than to read it. */
  readonly cached: "no" | "5m" | "1h";
  /** The most searches that it lets the provider make. */
  readonly webSearches: number;
}

/** What a session's earlier requests teach. */
export interface Experience {
  /** Output tokens of the last answers. */
  readonly outputs: readonly number[];
  /** The last request that was answered: its tokens by the usual measure, and those it turned out to have. */
  readonly last?: { readonly inputTokens: number; readonly usage: ModelUsage } | undefined;
}

/** In tokens, and the dearest use of them that the provider could bill. */
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
  // Never less than what is configured: many short answers must not make a long one look short.
  const usual = experience.outputs.length < ENOUGH_OUTPUTS ? 0 : percentile(experience.outputs, 0.95);
  const likely = Math.max(usual, reserveOutputTokens);
  // An answer in one piece is either seen or not, and may have been generated to its end.
  const output = size.isStream ? Math.min(likely, size.maxTokens ?? likely) : (size.maxTokens ?? likely);
  return { input: prompt - cache, cache, output, usage: dearest(prompt, output, size) };
}

/** Whether the cache still holds the prompt is known only afterwards. */
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
 * What a request is counted as: what the provider said, and for what it did not say, what was reserved. A request that
 * is cut off costs money, and a command that hangs up must not get it for nothing.
 */
export function settledUsage(
  { usage, proven }: Pick<ModelRequestOutcome, "usage" | "proven">,
  held: Estimate,
): ModelUsage {
  if (proven === "all") return usage;
  const output = Math.max(usage.output_tokens, held.output);
  const searches = Math.max(usage.web_search_requests ?? 0, held.usage.web_search_requests ?? 0);
  const unknown = { output_tokens: output, ...(searches > 0 && { web_search_requests: searches }) };
  if (proven === "input") return { ...usage, ...unknown };
  return { ...NOTHING, ...unknown, input_tokens: held.input, cache_creation_input_tokens: held.cache };
}

/** More than by the usual measure when the last request turned out so, and never less: whoever asks chooses the text. */
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
