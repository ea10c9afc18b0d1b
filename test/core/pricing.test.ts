import { describe, expect, test } from "vitest";
import { listPrice } from "../../src/core/pricing.ts";

const MILLION = 1_000_000;
const none = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

describe("the list price", () => {
  test.each<[model: string, input: number, output: number, cacheRead: number]>([
    ["claude-fable-5", 10, 50, 1],
    ["claude-opus-5-5", 4, 20, 0.2],
    ["claude-opus-5", 5, 25, 0.5],
    ["claude-opus-4-8", 5, 25, 0.5],
    ["claude-opus-4-5@20251101", 5, 25, 0.5],
    ["claude-sonnet-5-5", 2, 10, 0.1],
    ["claude-sonnet-5", 2, 10, 0.2],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15, 0.3],
    ["claude-haiku-5-5", 0.1, 0.5, 0.01],
    ["claude-haiku-4-5", 1, 5, 0.1],
  ])("of %s is %d USD in, %d out and %d from the cache per million tokens", (model, input, output, cacheRead) => {
    expect(listPrice(model, { ...none, input_tokens: MILLION })).toBeCloseTo(input, 10);
    expect(listPrice(model, { ...none, output_tokens: MILLION })).toBeCloseTo(output, 10);
    expect(listPrice(model, { ...none, cache_read_input_tokens: MILLION })).toBeCloseTo(cacheRead, 10);
    expect(listPrice(model, { ...none, cache_creation_input_tokens: MILLION })).toBeCloseTo(input * 1.25, 10);
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

  test.each(["gpt-5", "", "claude", "claude-opus-4-1", "claude-3-opus-20240229", "claude-3-5-haiku-20241022"])(
    "of %j, which is not known, is not guessed",
    (model) => {
      expect(listPrice(model, { ...none, input_tokens: 1 })).toBeNull();
    },
  );
});
