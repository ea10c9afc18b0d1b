import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { valuesAt } from "../../core/suite/json-path.ts";
import type { TrialTurnFacts } from "../trial/trial-facts.ts";
import { failedWith, type Finding, passedWith } from "./grader.ts";
import { documentOf } from "./json.ts";
import { shortJson } from "./similarity/words.ts";

/** Not within a word, a version such as 1.2.3, or a longer number; a unit may follow. */
const NUMBER = /(?<![\p{L}\p{N}_.])[-+−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?(?!\.?\d)/giu;

/** The number at the path; without a path, the last one in the text, where an answer states its result. */
export function gradeNumber({ equals, tolerance, path }: GraderParams<"number">, turn: TrialTurnFacts): Finding {
  const found = path === undefined ? lastIn(turn.text) : numberAt(turn, path);
  if ("problem" in found) return failedWith(found.problem);
  const expected = tolerance === 0 ? `${equals}` : `${equals} ± ${tolerance}`;
  const where = path ?? "the last number of the text";
  return isNear(found.number, equals, tolerance)
    ? passedWith(`${where} is ${found.number}, expected ${expected}`)
    : failedWith(`expected ${where} to be ${expected} (found ${found.number})`);
}

/** Floating point errors must not decide: 0.3 is within 0.1 of 0.2. */
function isNear(found: number, expected: number, tolerance: number): boolean {
  const inexact = Number.EPSILON * 4 * Math.max(Math.abs(found), Math.abs(expected));
  return Math.abs(found - expected) <= tolerance + (tolerance === 0 ? 0 : inexact);
}

type Found = { readonly number: number } | { readonly problem: string };

function lastIn(text: string): Found {
  const last = text.match(NUMBER)?.at(-1);
  if (last === undefined) return { problem: `expected a number in the text (found ${shortJson(text)})` };
  return { number: Number(last.replaceAll(",", "").replace("−", "-")) };
}

function numberAt(turn: TrialTurnFacts, path: string): Found {
  const found = documentOf(turn);
  if ("problem" in found) return found;
  const values = valuesAt(found.document, path);
  const [value] = values;
  if (values.length === 1 && typeof value === "number") return { number: value };
  return {
    problem: `expected one number at ${path} (found ${values.length === 0 ? "nothing" : values.map(shortJson).join(", ")})`,
  };
}
