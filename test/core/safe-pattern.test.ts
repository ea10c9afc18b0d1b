import * as fc from "fast-check";
import { expect, test } from "vitest";
import { safePattern } from "../../src/core/redaction/safe-pattern.ts";

const GOOD: readonly (readonly [pattern: string, text: string, found: readonly string[]])[] = [
  ["ACME-[A-Z0-9]{8}", "x ACME-AB12CD34 y", ["ACME-AB12CD34"]],
  ["acme_(live|test)_\\w+", "acme_live_abc, acme_test_9", ["acme_live_abc", "acme_test_9"]],
  ["\\bK\\d+\\b", "K1 AK2 K33", ["K1", "K33"]],
  ["^key: .{3}$", "key: abc", ["key: abc"]],
  ["(?:ab){2,3}", "ababab ab", ["ababab"]],
  ["a{2}b?", "aab aa", ["aab", "aa"]],
  ["[^\\s\\]]+@", "a]b@ c@", ["b@", "c@"]],
  ["x]}", "x]}", ["x]}"]],
];

test.for(GOOD)("%s is taken", ([pattern, text, found]) => {
  expect(text.match(safePattern(pattern))).toEqual(found);
});

const BAD: readonly (readonly [pattern: string, problem: RegExp])[] = [
  ["(a+)+$", /too long/],
  ["(a|a)*b", /too long/],
  ["(\\w+\\s*)+x", /too long/],
  [".*.*x", /too long/],
  ["(((a?){20})?){20}x", /too long/],
  ["a*", /empty/],
  ["", /empty/],
  ["(a", /character 3: expected a closing \)/],
  ["a)", /character 2: .*without its \(/],
  ["[a-", /character 1: expected a class/],
  ["[z-a]x", /regular expression/],
  ["*a", /character 1: expected something to repeat/],
  ["a**", /character 3/],
  ["(?=a)b", /look-around/],
  ["(?<x>a)", /look-around/],
  ["(a)\\1", /character 4: expected an escape/],
  ["\\p{L}+", /expected an escape/],
  ["a{3,2}", /smaller number first/],
  ["a{9999}", /at most 1024/],
  ["a".repeat(501), /at most 500/],
];

test.for(BAD)("%s is refused with its place", ([pattern, problem]) => {
  expect(() => safePattern(pattern)).toThrow(problem);
});

test("whatever is taken finds what the same expression finds, when nothing is longer than the bounds", () => {
  const atom = fc.constantFrom("a", "b", "[ab]", "\\w", "(?:a|b)", "(?:ab)", ".", "\\d");
  const quantified = fc.tuple(atom, fc.constantFrom("", "", "?", "+", "{1,3}", "*?")).map(([a, q]) => a + q);
  const pattern = fc.array(quantified, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  const text = fc.string({ unit: fc.constantFrom("a", "b", "1", " "), maxLength: 60 });
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      let safe: RegExp;
      try {
        safe = safePattern(source);
      } catch {
        return;
      }
      expect(given.match(safe)).toEqual(given.match(new RegExp(source, "g")));
    }),
  );
});
