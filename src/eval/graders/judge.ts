import { z } from "zod";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import type { TrialTurnFacts } from "../trial/trial-facts.ts";
import { type Finding, GraderError, type GraderDeps, type GraderContext } from "./grader.ts";
import { faithfulnessPrompt, relevancePrompt, rubricPrompt } from "./judge-prompts.ts";
import { shortJson } from "./similarity/words.ts";

/** Graders that ask a model. */

export function gradeRubric(
  given: GraderParams<"rubric">,
  turn: TrialTurnFacts,
  { facts, deps }: GraderContext,
): Promise<Finding> {
  return judgeAnswer(given, rubricPrompt(given, turn, facts.diff), deps);
}

export function gradeFaithfulness(
  given: GraderParams<"faithfulness">,
  turn: TrialTurnFacts,
  { deps }: GraderContext,
): Promise<Finding> {
  return judgeAnswer(given, faithfulnessPrompt(given, turn), deps);
}

export function gradeRelevance(
  given: GraderParams<"relevance">,
  turn: TrialTurnFacts,
  { deps }: GraderContext,
): Promise<Finding> {
  return judgeAnswer(given, relevancePrompt(given, turn), deps);
}

const judgement = z.strictObject({ score: z.number().min(0).max(1), reason: z.string().min(1) });
const SCHEMA = z.toJSONSchema(judgement) as Readonly<Record<string, unknown>>;

async function judgeAnswer(
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
      `the judge ${model} returned an invalid judgment: expected a score from 0 to 1 and a reason (found ${shortJson(answer)})`,
    );
  const { score, reason } = parsed.data;
  return {
    passed: score >= threshold,
    score,
    message: `${model} gives ${score}, expected at least ${threshold}: ${reason}`,
  };
}
