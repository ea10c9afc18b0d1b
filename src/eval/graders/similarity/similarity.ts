import type { GraderParams } from "../../../core/suite/grader-schema.ts";
import type { TrialTurnFacts } from "../../trial/trial-facts.ts";
import { bleu } from "./bleu.ts";
import { type Finding, GraderError } from "../grader.ts";
import { levenshteinSimilarity } from "./levenshtein.ts";
import { rougeL, rougeN, wordsOf } from "./rouge.ts";
import { toList } from "../text.ts";
import { diffOf, shortJson } from "./words.ts";

type Method = GraderParams<"similarity">["method"];

/** Pairs of characters or words. More would block the whole run for seconds. */
const MAX_PAIRS = 400_000_000;

export function similarity(
  { to, method, at_least: least }: GraderParams<"similarity">,
  { text }: TrialTurnFacts,
): Finding {
  const references = toList(to);
  const score = similarityOf(text, references, method);
  const told = `the similarity (${method}) is ${score.toFixed(3)}, expected at least ${least}`;
  if (score >= least) return { passed: true, score, message: told };
  const [reference = ""] = references;
  return {
    passed: false,
    score,
    message: `${told}: expected something like ${shortJson(reference)} (found ${shortJson(text)})`,
    diff: references.length === 1 ? diffOf(reference, text) : undefined,
  };
}

/** From 0 to 1. With several references, the best counts; BLEU uses all of them together. */
export function similarityOf(text: string, references: readonly string[], method: Method): number {
  // Also for texts without words, for which BLEU and ROUGE are undefined.
  if (references.includes(text)) return 1;
  if (method === "bleu") return bleu(text, references);
  return Math.max(...references.map((reference) => MEASURES[method](text, reference)));
}

const MEASURES: Readonly<Record<Exclude<Method, "bleu">, (text: string, reference: string) => number>> = {
  levenshtein(text, reference) {
    refuseTooLong(text.length * reference.length);
    return levenshteinSimilarity(text, reference);
  },
  rouge_1: (text, reference) => rougeN(text, reference, 1),
  rouge_2: (text, reference) => rougeN(text, reference, 2),
  rouge_l(text, reference) {
    refuseTooLong(wordsOf(text).length * wordsOf(reference).length);
    return rougeL(text, reference);
  },
};

function refuseTooLong(pairs: number): void {
  if (pairs > MAX_PAIRS) throw new GraderError("the texts are too long for this method; use bleu, rouge_1 or rouge_2");
}
