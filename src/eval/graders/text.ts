import type { GraderParams, TextCheck } from "../../core/suite/grader-schema.ts";
import { readPattern } from "../../core/suite/suite-pattern.ts";
import type { TrialTurnFacts } from "../trial/trial-facts.ts";
import { allOf, failedWith, type Finding, passedWith } from "./grader.ts";
import { matches } from "./matches.ts";
import { diffOf, shortJson } from "./similarity/words.ts";

/** Graders for the agent's text, and checks of other texts. */

const SAID = "the text";

export function gradeEquals(given: GraderParams<"equals">, { text }: TrialTurnFacts): Finding {
  return isText(SAID, text, given);
}

export function gradeContains(given: GraderParams<"contains">, { text }: TrialTurnFacts): Finding {
  return hasWords(SAID, text, given);
}

export function gradeNotContains(given: GraderParams<"not_contains">, { text }: TrialTurnFacts): Finding {
  return lacksWords(SAID, text, given);
}

export function gradeRegex(given: GraderParams<"regex">, { text }: TrialTurnFacts): Finding {
  return hasPatterns(SAID, text, given);
}

/** `what`: the text's name, such as a file's. */
export function checkText(what: string, text: string, check: TextCheck | string): Finding {
  if (typeof check === "string") return isText(what, text, check);
  return allOf([
    ...(check.equals === undefined ? [] : [isText(what, text, check.equals)]),
    ...(check.contains === undefined ? [] : [hasWords(what, text, check.contains)]),
    ...(check.not_contains === undefined ? [] : [lacksWords(what, text, check.not_contains)]),
    ...(check.matches === undefined ? [] : [hasPatterns(what, text, check.matches)]),
  ]);
}

/** Ignores trailing whitespace: YAML ends a block of text with a line break, and an agent may not. */
function isText(what: string, text: string, expected: string): Finding {
  const [wanted, found] = [expected.trimEnd(), text.trimEnd()];
  if (found === wanted) return passedWith(`${what} is ${shortJson(wanted)}`);
  return failedWith(`expected ${what} to be ${shortJson(wanted)} (found ${shortJson(found)})`, diffOf(wanted, found));
}

function hasWords(what: string, text: string, words: string | readonly string[]): Finding {
  const missing = toList(words).filter((one) => !text.includes(one));
  if (missing.length === 0) return passedWith(`${what} contains ${listWords(words)}`);
  return failedWith(`expected ${what} to contain ${listWords(missing)} (found ${shortJson(text)})`);
}

function lacksWords(what: string, text: string, words: string | readonly string[]): Finding {
  const found = toList(words).filter((one) => text.includes(one));
  if (found.length === 0) return passedWith(`${what} does not contain ${listWords(words)}`);
  return failedWith(`expected ${what} not to contain ${listWords(found)} (found ${around(text, found[0] ?? "")})`);
}

function hasPatterns(what: string, text: string, patterns: string | readonly string[]): Finding {
  const missing = toList(patterns).filter((one) => !matches(readPattern(one), text));
  if (missing.length === 0) return passedWith(`${what} matches ${toList(patterns).join(" and ")}`);
  return failedWith(`expected ${what} to match ${missing.join(" and ")} (found ${shortJson(text)})`);
}

export function toList(words: string | readonly string[]): readonly string[] {
  return typeof words === "string" ? [words] : words;
}

function listWords(words: string | readonly string[]): string {
  return toList(words).map(shortJson).join(" and ");
}

const AROUND = 60;

/** The text around the words. */
function around(text: string, words: string): string {
  const at = text.indexOf(words);
  const [from, to] = [Math.max(0, at - AROUND), at + words.length + AROUND];
  return shortJson(`${from === 0 ? "" : "…"}${text.slice(from, to)}${to < text.length ? "…" : ""}`);
}
