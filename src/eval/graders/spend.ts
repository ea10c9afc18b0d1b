import { parseDuration } from "../../core/text/duration.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { count, duration as durationText, preciseMoney } from "../../words/amounts.ts";
import { type Finding, GraderError, type GraderContext } from "./grader.ts";
import { countInWords, isCountWithin } from "./similarity/words.ts";

/** Graders for cost: money, tokens, requests, time. */

export function gradeCost({ at_most: most }: GraderParams<"cost">, { facts }: GraderContext): Finding {
  if (facts.usd === null)
    throw new GraderError("the price of a model that was used is not known; add it to prices in the settings");
  return atMost(facts.usd, most, preciseMoney);
}

export function gradeTokens({ at_most: most, of }: GraderParams<"tokens">, { facts }: GraderContext): Finding {
  const { input, output, cacheRead, cacheCreation } = facts.tokens;
  const counts = { total: input + output + cacheRead + cacheCreation, input, output, cache_read: cacheRead };
  const kind = of === "total" ? "" : `${of.replace("_", " ")} `;
  return atMost(counts[of], most, (amount) => count(amount, `${kind}token`));
}

export function gradeRequests(given: GraderParams<"requests">, { facts }: GraderContext): Finding {
  const passed = isCountWithin(facts.requests, given);
  return { passed, message: `expected ${countInWords(given)} model requests (found ${facts.requests})` };
}

export function gradeDuration({ at_most: most }: GraderParams<"duration">, { facts }: GraderContext): Finding {
  return atMost(facts.durationMs, parseDuration(most), durationText);
}

function atMost(found: number, most: number, inWords: (amount: number) => string): Finding {
  return { passed: found <= most, message: `expected at most ${inWords(most)} (found ${inWords(found)})` };
}
