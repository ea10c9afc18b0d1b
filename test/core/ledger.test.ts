import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addLines, type LedgerLine, mergeLines, splitLine, toolsOf } from "../../src/core/money/ledger.ts";

const line: fc.Arbitrary<LedgerLine> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  billing: fc.constantFrom("paid" as const, "included" as const, "rehearsal" as const),
  requests: fc.nat(100),
  inputTokens: fc.nat(1_000_000),
  outputTokens: fc.nat(1_000_000),
  cacheReadTokens: fc.nat(1_000_000),
  cacheWriteTokens: fc.nat(1_000_000),
  webSearches: fc.nat(10),
  usd: fc.nat(1_000),
  unpricedRequests: fc.nat(10),
  estimatedRequests: fc.nat(10),
});

test("a line that is split over tools still adds up to the same", () => {
  fc.assert(
    fc.property(line, fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 7 }), (whole, keys) => {
      const parts = splitLine(whole, keys);
      expect(parts.map(({ key }) => key)).toEqual(keys);
      const { usd, ...sum } = parts.reduce(addLines);
      const { usd: cost, ...figures } = whole;
      expect({ ...sum, key: whole.key }).toEqual(figures);
      expect(usd).toBeCloseTo(cost, 6);
      for (const part of parts)
        expect(part.inputTokens).toBeGreaterThanOrEqual(Math.floor(whole.inputTokens / keys.length));
    }),
  );
});

test("lines of different billing are never added up", () => {
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const merged = mergeLines(lines);
      const ids = merged.map(({ key, billing }) => `${key} ${billing}`);
      expect(new Set(ids).size).toBe(ids.length);
      for (const one of merged) {
        const parts = lines.filter(({ key, billing }) => key === one.key && billing === one.billing);
        expect(one.inputTokens).toBe(parts.reduce((sum, part) => sum + part.inputTokens, 0));
      }
    }),
  );
});

test.each<[readonly string[] | undefined, string, readonly string[]]>([
  [["Bash", "Read"], "main", ["Bash", "Read"]],
  [[], "main", ["(message)"]],
  [undefined, "subagent", ["(message)"]],
  [undefined, "auxiliary", ["(auxiliary)"]],
  [undefined, "compaction", ["(compaction)"]],
])("a request that reads results of %j and is of class %s counts for %j", (tools, requestClass, expected) => {
  expect(toolsOf(tools, requestClass)).toEqual(expected);
});
