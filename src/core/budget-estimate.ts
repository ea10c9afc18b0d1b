import type { ModelUsage } from "./events.ts";

/** What a model request may come to, worked out before it is sent. */

/** English text and JSON have about as many; what is not known errs towards more tokens. */
const BYTES_PER_TOKEN = 3.5;
/** With fewer answers than this a percentile says nothing. */
const ENOUGH_OUTPUTS = 5;
/** Older answers say little about the next one. */
export const REMEMBERED_OUTPUTS = 100;

/** What a session's earlier requests teach. */
export interface Experience {
  /** Output tokens of the last answers. */
  readonly outputs: readonly number[];
  /** The last request that was answered: its length, and the tokens it turned out to have. */
  readonly last?: { readonly bytes: number; readonly usage: ModelUsage } | undefined;
}

export interface RequestSize {
  readonly bytes: number;
  /** The most that the request lets the model answer. */
  readonly maxTokens: number | undefined;
}

export function estimate(
  { bytes, maxTokens }: RequestSize,
  { experience, reserveOutputTokens }: { experience: Experience; reserveOutputTokens: number },
): { readonly input: number; readonly cache: number; readonly output: number } {
  const prompt = estimatePrompt(bytes, experience);
  const cache = Math.floor(prompt * cachedShare(experience));
  const output =
    experience.outputs.length < ENOUGH_OUTPUTS ? reserveOutputTokens : percentile(experience.outputs, 0.95);
  return { input: prompt - cache, cache, output: Math.min(output, maxTokens ?? output) };
}

/** By the same measure as the last request turned out, when there was one. */
function estimatePrompt(bytes: number, { last }: Experience): number {
  const known = last === undefined ? 0 : promptTokens(last.usage);
  if (last === undefined || last.bytes === 0 || known === 0) return Math.ceil(bytes / BYTES_PER_TOKEN);
  return Math.ceil((bytes * known) / last.bytes);
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
