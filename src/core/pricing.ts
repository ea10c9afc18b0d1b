import type { ModelUsage } from "./events.ts";

interface Price {
  /** USD per million tokens; a cache write costs 1.25 × the input. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

/** List prices as the pinned SDK counts them; test/e2e/pricing.test.ts compares the two. The first match counts. */
const PRICES: readonly (readonly [model: RegExp, price: Price])[] = [
  [/fable-5|mythos-5/, { input: 10, output: 50, cacheRead: 1 }],
  [/opus-5-5/, { input: 4, output: 20, cacheRead: 0.2 }],
  [/opus-5|opus-4-[5-8]/, { input: 5, output: 25, cacheRead: 0.5 }],
  [/sonnet-5-5/, { input: 2, output: 10, cacheRead: 0.1 }],
  [/sonnet-5/, { input: 2, output: 10, cacheRead: 0.2 }],
  [/sonnet-4/, { input: 3, output: 15, cacheRead: 0.3 }],
  [/haiku-5-5/, { input: 0.1, output: 0.5, cacheRead: 0.01 }],
  [/haiku-4-5/, { input: 1, output: 5, cacheRead: 0.1 }],
];

/** List price of a request; null when the model has no known price, so that nobody takes a guess for a figure. */
export function listPrice(model: string, usage: ModelUsage): number | null {
  const price = PRICES.find(([pattern]) => pattern.test(model))?.[1];
  if (price === undefined) return null;
  const weighted =
    usage.input_tokens * price.input +
    usage.output_tokens * price.output +
    usage.cache_creation_input_tokens * price.input * 1.25 +
    usage.cache_read_input_tokens * price.cacheRead;
  return weighted / 1_000_000;
}
