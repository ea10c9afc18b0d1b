/**
 * List prices in USD, in one place. Per million tokens; web searches are priced each. They match those of the pinned
 * Agent SDK (test/e2e/pricing.test.ts compares them), so that our figures and the engine's agree.
 */

/** When the table was last compared with the SDK's. */
export const PRICES_DATE = "2026-11-15";

export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Cached for five minutes. */
  readonly cacheWrite5m: number;
  /** Cached for an hour. */
  readonly cacheWrite1h: number;
}

export interface ModelPrice extends TokenPrice {
  /** Each. */
  readonly webSearch: number;
  /** The price of a request whose prompt, including cached tokens, has more tokens than `above`. */
  readonly longPrompt?: TokenPrice & { readonly above: number };
}

export interface PriceEntry {
  /** Searched anywhere in the model's name, because providers add prefixes and suffixes. */
  readonly model: { test(name: string): boolean };
  readonly price: ModelPrice;
}

const WEB_SEARCH = 0.01;

/**
 * Cache writes cost 1.25 × the input for five minutes and 2 × for an hour; the price of a read depends on the model.
 */
function tokens(input: number, output: number, cacheRead: number): TokenPrice {
  return { input, output, cacheRead, cacheWrite5m: input * 1.25, cacheWrite1h: input * 2 };
}

function price(input: number, output: number, cacheRead: number): ModelPrice {
  return { ...tokens(input, output, cacheRead), webSearch: WEB_SEARCH };
}

/** The price if a user gives only two figures: default cache ratios and the default price per search. */
export function usualPrice(input: number, output: number): ModelPrice {
  return price(input, output, input * 0.1);
}

/**
 * The first match applies. `(?!\d)` distinguishes a version from a date: `opus-5-5` is a version, `opus-5-20260801` is
 * not.
 */
export const PRICES: readonly PriceEntry[] = [
  { model: /(fable|mythos)-5-2(?!\d)/, price: price(8, 40, 0.2) },
  { model: /(fable|mythos)-5-1(?!\d)/, price: price(10, 50, 0.25) },
  { model: /(fable|mythos)-5(?!\d|-\d(?!\d))/, price: price(10, 50, 1) },
  { model: /opus-5-5(?!\d)/, price: price(4, 20, 0.2) },
  { model: /opus-5(?!\d|-\d(?!\d))|opus-4-[5-8](?!\d)/, price: price(5, 25, 0.5) },
  { model: /opus-4-[01](?!\d)|opus-4-20\d{6}/, price: price(15, 75, 1.5) },
  { model: /sonnet-5-5(?!\d)/, price: price(2, 10, 0.1) },
  { model: /sonnet-5(?!\d|-\d(?!\d))/, price: price(2, 10, 0.2) },
  { model: /sonnet-4-[0-6](?!\d)|sonnet-4-20\d{6}|claude-3-[57]-sonnet/, price: price(3, 15, 0.3) },
  {
    model: /haiku-5-5(?!\d)/,
    price: { ...price(0.1, 0.5, 0.01), longPrompt: { above: 100_000, ...tokens(0.5, 2.5, 0.05) } },
  },
  { model: /haiku-4-5(?!\d)/, price: price(1, 5, 0.1) },
  { model: /claude-3-5-haiku/, price: price(0.8, 4, 0.08) },
];
