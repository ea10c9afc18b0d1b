import { describe, expect, test } from "vitest";
import { isAlias, listPrice, priceSettings, pricesWith } from "../../src/core/money/pricing.ts";

const MILLION = 1_000_000;
const none = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

describe("the list price", () => {
  test.each<[model: string, input: number, output: number, cacheRead: number]>([
    ["claude-fable-5", 10, 50, 1],
    ["claude-fable-5-20260301", 10, 50, 1],
    ["claude-fable-5-1", 10, 50, 0.25],
    ["claude-mythos-5-2", 8, 40, 0.2],
    ["claude-opus-5-5", 4, 20, 0.2],
    ["claude-opus-5", 5, 25, 0.5],
    ["claude-opus-4-8", 5, 25, 0.5],
    ["claude-opus-4-1-20250805", 15, 75, 1.5],
    ["claude-opus-4-20250514", 15, 75, 1.5],
    ["claude-opus-4-5@20251101", 5, 25, 0.5],
    ["claude-sonnet-5-5", 2, 10, 0.1],
    ["claude-sonnet-5", 2, 10, 0.2],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15, 0.3],
    ["claude-3-7-sonnet-latest", 3, 15, 0.3],
    ["claude-haiku-4-5", 1, 5, 0.1],
    ["claude-3-5-haiku-20241022", 0.8, 4, 0.08],
  ])("of %s is %d USD in, %d out and %d from the cache per million tokens", (model, input, output, cacheRead) => {
    expect(listPrice(model, { ...none, input_tokens: MILLION })).toBeCloseTo(input, 10);
    expect(listPrice(model, { ...none, output_tokens: MILLION })).toBeCloseTo(output, 10);
    expect(listPrice(model, { ...none, cache_read_input_tokens: MILLION })).toBeCloseTo(cacheRead, 10);
    expect(listPrice(model, { ...none, cache_creation_input_tokens: MILLION })).toBeCloseTo(input * 1.25, 10);
    const oneHour = { cache_creation_input_tokens: MILLION, cache_creation_1h_input_tokens: MILLION };
    expect(listPrice(model, { ...none, ...oneHour })).toBeCloseTo(input * 2, 10);
    expect(listPrice(model, { ...none, web_search_requests: 3 })).toBeCloseTo(0.03, 10);
  });

  test("of a long prompt is higher where the list says so", () => {
    const short = { ...none, input_tokens: 60_000, cache_read_input_tokens: 40_000, output_tokens: 1_000 };
    expect(listPrice("claude-haiku-5-5", short)).toBeCloseTo(0.006 + 0.0004 + 0.0005, 10);
    expect(listPrice("claude-haiku-5-5", { ...short, input_tokens: 60_001 })).toBeCloseTo(
      0.0300005 + 0.002 + 0.0025,
      10,
    );
  });

  test("of cache writes is that of five minutes for all that is not said to be kept for an hour", () => {
    const mixed = { ...none, cache_creation_input_tokens: 1_000, cache_creation_1h_input_tokens: 400 };
    expect(listPrice("claude-opus-4-8", mixed)).toBeCloseTo((600 * 6.25 + 400 * 10) / MILLION, 10);
    // More than all of them cannot be.
    const wrong = { ...none, cache_creation_input_tokens: 1_000, cache_creation_1h_input_tokens: 5_000 };
    expect(listPrice("claude-opus-4-8", wrong)).toBeCloseTo((1_000 * 10) / MILLION, 10);
  });

  test("of a request is the sum of its parts", () => {
    const usage = {
      input_tokens: 1000,
      output_tokens: 200,
      cache_read_input_tokens: 10_000,
      cache_creation_input_tokens: 400,
    };
    expect(listPrice("claude-sonnet-4-5", usage)).toBeCloseTo(0.003 + 0.003 + 0.003 + 0.0015, 10);
  });

  test("of no tokens is nothing", () => {
    expect(listPrice("claude-opus-4-8", none)).toBe(0);
  });

  test.each([
    "gpt-5",
    "",
    "claude",
    "opus",
    "claude-3-opus-20240229",
    "claude-opus-5-6",
    "claude-opus-6",
    "claude-fable-5-3",
  ])("of %j, which is not known, is not guessed", (model) => {
    expect(listPrice(model, { ...none, input_tokens: 1 })).toBeNull();
  });
});

describe("a user's prices", () => {
  const usage = { ...none, input_tokens: MILLION };

  test("come before those of the list, the first pattern first", () => {
    const prices = pricesWith({
      "claude-opus-4-8": { input: 1, output: 2 },
      "claude-opus-*": { input: 3, output: 4 },
      "local/*": { input: 0, output: 0 },
    });
    expect(listPrice("claude-opus-4-8", usage, prices)).toBe(1);
    expect(listPrice("claude-opus-9", usage, prices)).toBe(3);
    expect(listPrice("local/tiny", usage, prices)).toBe(0);
    expect(listPrice("claude-haiku-4-5", usage, prices)).toBe(1);
    expect(listPrice("my-claude-opus-4-8", usage, prices)).toBe(5);
    expect(listPrice("other/tiny", usage, prices)).toBeNull();
  });

  test("take the usual shares for what they leave out", () => {
    const prices = pricesWith({ m: { input: 10, output: 20, cache_write_1h: 7, web_search: 1 } });
    const of = (
      given: Partial<typeof none> & { cache_creation_1h_input_tokens?: number; web_search_requests?: number },
    ) => listPrice("m", { ...none, ...given }, prices);
    expect(of({ cache_read_input_tokens: MILLION })).toBeCloseTo(1, 10);
    expect(of({ cache_creation_input_tokens: MILLION })).toBeCloseTo(12.5, 10);
    expect(of({ cache_creation_input_tokens: MILLION, cache_creation_1h_input_tokens: MILLION })).toBeCloseTo(7, 10);
    expect(of({ web_search_requests: 2 })).toBe(2);
  });

  test("take the characters of a name for what they are", () => {
    const prices = pricesWith({ "a.b[1m]": { input: 1, output: 1 } });
    expect(listPrice("a.b[1m]", usage, prices)).toBe(1);
    expect(listPrice("axb1", usage, prices)).toBeNull();
  });

  test.each([
    { m: { input: -1, output: 1 } },
    { m: { input: 1 } },
    { m: { input: 1, output: 1e9 } },
    { m: { input: 1, output: Number.POSITIVE_INFINITY } },
    { m: { input: 1, output: 1, cached: 1 } },
    { "a b": { input: 1, output: 1 } },
    { "": { input: 1, output: 1 } },
  ])("such as %j are refused", (prices) => {
    expect(priceSettings.safeParse(prices).success).toBe(false);
  });
});

test.each([
  ["opus", true],
  ["opus[1m]", true],
  ["claude-opus-4-8", false],
  ["gpt-5", false],
])("%s is an alias: %s", (model, alias) => {
  expect(isAlias(model)).toBe(alias);
});
