import type { ModelUsage } from "./events.ts";

/** USD per million tokens. A cache write costs 1.25 × the input, a cache read a tenth of it. */
const PRICES: readonly (readonly [pattern: RegExp, input: number, output: number])[] = [
  [/3-opus|opus-4(-[01](?!\d)|[-@]20|$)/, 15, 75],
  [/opus/, 5, 25],
  [/sonnet/, 3, 15],
  [/3-5-haiku|haiku-3-5/, 0.8, 4],
  [/3-haiku|haiku-3(-|$)/, 0.25, 1.25],
  [/haiku/, 1, 5],
];

/** List price of a request; null when the model is not known, so that nobody takes a guess for a figure. */
export function listPrice(model: string, usage: ModelUsage): number | null {
  const price = PRICES.find(([pattern]) => pattern.test(model));
  if (price === undefined) return null;
  const [, input, output] = price;
  const weighted =
    usage.input_tokens * input +
    usage.output_tokens * output +
    usage.cache_creation_input_tokens * input * 1.25 +
    usage.cache_read_input_tokens * input * 0.1;
  return weighted / 1_000_000;
}
