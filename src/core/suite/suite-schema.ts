import { z } from "zod";
import { engineName } from "../agent/agent-definition.ts";
import { fault } from "./fault-schema.ts";
import { graders, readablePatterns } from "./grader-schema.ts";

/** A suite as written, in `*.test.yaml` or under `tests:` of an agent file. */

const name = z.string().min(1).max(200);
/** Relative to the file that contains it. */
const path = z.string().min(1);
const duration = z.string().min(1);

export const graderAsWritten = z.strictObject({
  ...(Object.fromEntries(Object.entries(graders).map(([kind, schema]) => [kind, schema.optional()])) as {
    [Kind in keyof typeof graders]: z.ZodOptional<(typeof graders)[Kind]>;
  }),
  name: name.optional(),
  turn: z.number().int().positive().optional(),
});

/**
 * How an approval or a question of the agent is answered. The first match is used; a question without a match fails the
 * trial.
 */
const answer = z.union([
  z.strictObject({
    tool: z.string().min(1),
    /** Fields that its input must have; a text in `/…/` is a pattern. */
    with: z.record(z.string(), z.unknown()).check(readablePatterns).optional(),
    decision: z.enum(["allow", "deny"]),
    message: z.string().optional(),
    /** Replaces the agent's input. */
    input: z.record(z.string(), z.unknown()).optional(),
    times: z.number().int().positive().optional(),
  }),
  z.strictObject({
    /** A pattern for the question's text. */
    question: z.string().min(1).check(readablePatterns),
    answer: z.string(),
    times: z.number().int().positive().optional(),
  }),
  z.strictObject({ plan: z.enum(["allow", "deny"]), message: z.string().optional() }),
]);

const turn = z.strictObject({
  input: z.string().min(1),
  /** Interrupts the turn after this many tool calls, as a person would. */
  interrupt_after: z.strictObject({ tool_calls: z.number().int().positive() }).optional(),
});

const common = {
  /** Path → content, written over the fixture. */
  files: z.record(path, z.string()).optional(),
  tags: z.array(name).optional(),
  /** The engine that runs it (default: the agent's). */
  engine: engineName.optional(),
  trials: z.number().int().min(1).max(1000).optional(),
  /** The share of trials that must pass (default: 1). */
  pass_rate: z.number().min(0).max(1).optional(),
  timeout: duration.optional(),
  fixture: path.optional(),
  git: z.boolean().optional(),
  answers: z.array(answer).optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  graders: z.array(graderAsWritten).optional(),
  /** Patterns in model input whose matches may vary from run to run. */
  ignore: z.array(z.string().min(1)).optional(),
};

export const caseAsWritten = z.strictObject({
  name,
  description: z.string().optional(),
  ...common,
  /** `trial`: a fresh directory; `here`: the suite's own directory, which needs --allow-side-effects. */
  workspace: z.enum(["trial", "here"]).optional(),
  input: z.string().min(1).optional(),
  turns: z.array(turn).min(1).optional(),
  stop_reason: graders.stop_reason.optional(),
  faults: z.array(fault).optional(),
  only: z.boolean().optional(),
  skip: z.union([z.boolean(), z.string().min(1)]).optional(),
});

export const suiteAsWritten = z.strictObject({
  $schema: z.string().optional(),
  suite: name.optional(),
  description: z.string().optional(),
  /** The agent file. Under `tests:` of one, that file. */
  agent: path.optional(),
  /** For every case that does not override them. Graders and tags are added to the case's own. */
  defaults: z.strictObject(common).optional(),
  judge: z.strictObject({ model: name }).optional(),
  /** What the whole suite must reach; otherwise the run fails even if every case passed. */
  gates: z
    .strictObject({
      pass_rate: z.number().min(0).max(1).optional(),
      /** For all trials together. */
      usd: z.number().min(0).optional(),
      duration: duration.optional(),
    })
    .optional(),
  /** How much worse than the baseline a run may be. */
  margins: z
    .strictObject({
      /** In points of the pass rate, from 0 to 1 (default: 0). */
      pass_rate: z.number().min(0).max(1).optional(),
      /** As a share: 0.1 is ten percent (default: 0.1). */
      usd: z.number().min(0).optional(),
      /**
       * Default: 0.5 if a model is asked (--live, --record); otherwise the time depends on the machine, and is compared
       * only if this is set.
       */
      duration: z.number().min(0).optional(),
    })
    .optional(),
  cases: z.array(caseAsWritten).min(1),
});

/** Under `tests:` of an agent file: the agent is that of the file. */
export const suiteInAgentFile = suiteAsWritten.omit({ $schema: true, agent: true });

export type SuiteAsWritten = z.infer<typeof suiteAsWritten>;
export type CaseAsWritten = z.infer<typeof caseAsWritten>;
export type AnswerAsWritten = z.infer<typeof answer>;
export type GraderAsWritten = z.infer<typeof graderAsWritten>;
