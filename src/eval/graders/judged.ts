import { z } from "zod";
import type { Given } from "../../core/suite/grader-schema.ts";
import type { TurnFacts } from "../trial/trial-facts.ts";
import { type Finding, GraderError, type GraderDeps, type Surroundings } from "./grader.ts";
import { faithfulnessPrompt, relevancePrompt, rubricPrompt } from "./judge-prompts.ts";
import { shown } from "./similarity/words.ts";

/** Graders that ask a model. */

export function rubric(given: Given<"rubric">, turn: TurnFacts, { facts, deps }: Surroundings): Promise<Finding> {
  return judged(given, rubricPrompt(given, turn, facts.diff), deps);
}

export function faithfulness(given: Given<"faithfulness">, turn: TurnFacts, { deps }: Surroundings): Promise<Finding> {
  return judged(given, faithfulnessPrompt(given, turn), deps);
}

export function relevance(given: Given<"relevance">, turn: TurnFacts, { deps }: Surroundings): Promise<Finding> {
  return judged(given, relevancePrompt(given, turn), deps);
}

const judgement = z.strictObject({ score: z.number().min(0).max(1), reason: z.string().min(1) });
const SCHEMA = z.toJSONSchema(judgement) as Readonly<Record<string, unknown>>;

async function judged(
  { judge: named, threshold }: { readonly judge?: string | undefined; readonly threshold: number },
  prompt: string,
  { judge, judgeModel, signal }: GraderDeps,
): Promise<Finding> {
  const model = named ?? judgeModel;
  if (model === undefined)
    throw new GraderError(
      "no judge is configured; set judge: <model> here, or judge: { model: <model> } for the suite",
    );
  const answer = await judge({ model, prompt, schema: SCHEMA, signal });
  const parsed = judgement.safeParse(answer);
  if (!parsed.success)
    throw new GraderError(
      `the judge ${model} returned an invalid judgment: expected a score from 0 to 1 and a reason (found ${shown(answer)})`,
    );
  const { score, reason } = parsed.data;
  return {
    passed: score >= threshold,
    score,
    message: `${model} gives ${score}, expected at least ${threshold}: ${reason}`,
  };
}
