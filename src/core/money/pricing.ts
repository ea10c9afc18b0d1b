import { z } from "zod";
import type { ModelUsage } from "./usage.ts";
import { type Glob, globOf, matchesGlob, STAR } from "../paths/glob.ts";
import { type ModelPrice, type PriceEntry, PRICES, type TokenPrice, usualPrice } from "./prices.ts";

const MILLION = 1_000_000;
/** More than any model costs; a higher price probably has the wrong unit. */
const ABSURD = 100_000;

const usdPerMillion = z.number().min(0).max(ABSURD);

/** A model's price in the settings: USD per million tokens, and per web search. */
const priceOverride = z.strictObject({
  input: usdPerMillion,
  output: usdPerMillion,
  cache_read: usdPerMillion.optional(),
  cache_write_5m: usdPerMillion.optional(),
  cache_write_1h: usdPerMillion.optional(),
  web_search: usdPerMillion.optional(),
});

/** By model; `*` in the name matches any characters. */
export const priceSettings = z.record(
  z.string().regex(/^[\w.:@/*[\]-]{1,200}$/, "a model's name, with * for any characters"),
  priceOverride,
);
export type PriceSettings = z.infer<typeof priceSettings>;

/** The user's prices, then the list. The first matching pattern applies. */
export function pricesWith(overrides: PriceSettings): readonly PriceEntry[] {
  const own = Object.entries(overrides).map(([pattern, given]): PriceEntry => {
    const usual = usualPrice(given.input, given.output);
    const glob = modelGlob(pattern);
    return {
      model: { test: (name) => matchesGlob(glob, name) },
      price: {
        ...usual,
        cacheRead: given.cache_read ?? usual.cacheRead,
        cacheWrite5m: given.cache_write_5m ?? usual.cacheWrite5m,
        cacheWrite1h: given.cache_write_1h ?? usual.cacheWrite1h,
        webSearch: given.web_search ?? usual.webSearch,
      },
    };
  });
  return [...own, ...PRICES];
}

/**
 * Not a regular expression: an agent chooses the name that it is compared with, and some patterns would take forever.
 */
export function modelGlob(pattern: string): Glob {
  return globOf(Array.from(pattern.replaceAll(/\*+/g, "*"), (character) => (character === "*" ? STAR : character)));
}

export function priceOf(model: string, prices: readonly PriceEntry[] = PRICES): ModelPrice | undefined {
  return prices.find((entry) => entry.model.test(model))?.price;
}

/** List price of a request; null if the model's price is unknown, so that no guess passes for a figure. */
export function listPrice(model: string, usage: ModelUsage, prices: readonly PriceEntry[] = PRICES): number | null {
  const price = priceOf(model, prices);
  return price === undefined ? null : cost(price, usage);
}

function cost(price: ModelPrice, usage: ModelUsage): number {
  const rate = rateFor(price, usage);
  const oneHour = Math.min(usage.cache_creation_1h_input_tokens ?? 0, usage.cache_creation_input_tokens);
  const weighted =
    usage.input_tokens * rate.input +
    usage.output_tokens * rate.output +
    (usage.cache_creation_input_tokens - oneHour) * rate.cacheWrite5m +
    oneHour * rate.cacheWrite1h +
    usage.cache_read_input_tokens * rate.cacheRead;
  return weighted / MILLION + (usage.web_search_requests ?? 0) * price.webSearch;
}

function rateFor(price: ModelPrice, usage: ModelUsage): TokenPrice {
  const prompt = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  return price.longPrompt !== undefined && prompt > price.longPrompt.above ? price.longPrompt : price;
}

/** A word such as `opus` that the engine resolves to a model; which one is known at the first request. */
export function isAlias(model: string): boolean {
  return /^[a-z]+(\[\w+\])?$/i.test(model);
}
