import { patternIn } from "../../core/suite/suite-pattern.ts";
import { matches } from "../graders/matches.ts";

/**
 * Whether a value matches what was expected: for an object, only the named fields count, and a text between slashes is
 * a pattern, such as `/^git /i`.
 */
export function fits(expected: unknown, found: unknown): boolean {
  if (typeof expected === "string") {
    const pattern = patternIn(expected);
    if (pattern === undefined) return expected === found;
    return matches(pattern, typeof found === "string" ? found : JSON.stringify(found ?? null));
  }
  if (Array.isArray(expected))
    return (
      Array.isArray(found) &&
      expected.length === found.length &&
      expected.every((one, index) => fits(one, found[index]))
    );
  if (typeof expected !== "object" || expected === null) return Object.is(expected, found);
  if (typeof found !== "object" || found === null || Array.isArray(found)) return false;
  return Object.entries(expected).every(([key, one]) => fits(one, (found as Record<string, unknown>)[key]));
}
