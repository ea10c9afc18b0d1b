import { expect, test } from "vitest";
import { matchesGlob } from "../../src/core/paths/glob.ts";
import { listPrice, modelGlob, pricesWith } from "../../src/core/money/pricing.ts";

/** How often the pattern was evaluated. */
function stepsOf(pattern: string, name: string): number {
  let steps = 0;
  const { tokens, literal } = modelGlob(pattern);
  const counted = new Proxy(tokens, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) steps += 1;
      return Reflect.get(target, key) as unknown;
    },
  });
  expect(matchesGlob({ literal, tokens: counted }, name)).toBe(false);
  return steps;
}

test.each(["*a*a*a*b", "*a*a*a*a*a*a*a*a*a*b", "***a***a***b"])(
  "the price pattern %s takes steps in proportion to the length of a name, for any name",
  (pattern) => {
    const [once, twice] = [stepsOf(pattern, "a".repeat(1_000)), stepsOf(pattern, "a".repeat(2_000))];
    expect(once).toBeLessThanOrEqual(1_000 * pattern.length * 2);
    expect(twice / once).toBeLessThan(2.5);
  },
);

test("a pattern still matches what it is for", () => {
  const usage = { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const prices = pricesWith({ "my-*-large[1m]": { input: 1_000, output: 0 }, "*.x*": { input: 2_000, output: 0 } });
  expect(listPrice("my-own-large[1m]", usage, prices)).toBe(0.001);
  expect(listPrice("a.xyz", usage, prices)).toBe(0.002);
  expect(listPrice("my-own-large1", usage, prices)).toBeNull();
  expect(listPrice("axy", usage, prices)).toBeNull();
});
