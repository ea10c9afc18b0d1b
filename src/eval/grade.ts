import { messageOf } from "../core/errors.ts";
import {
  type GraderParams,
  type Grader,
  type GraderKind,
  type GraderOf,
  TURN_GRADERS,
  type TurnGraderKind,
} from "../core/suite/grader-schema.ts";
import type { GraderVerdict } from "../core/suite/suite-run.ts";
import { gradeCode } from "./graders/code.ts";
import { gradeCommand } from "./graders/command.ts";
import { gradeRecovery, gradeStopReason, gradeSubagents } from "./graders/trajectory.ts";
import { gradeDecisions } from "./graders/decisions.ts";
import { gradeDiff, gradeFiles, gradeOnlyChanged } from "./graders/files.ts";
import { failedWith, type Finding, type GraderDeps, GraderError, type GraderContext } from "./graders/grader.ts";
import { gradeJson, gradeJsonSchema, gradeOutput } from "./graders/json.ts";
import { gradeFaithfulness, gradeRelevance, gradeRubric } from "./graders/judge.ts";
import { gradeNumber } from "./graders/number.ts";
import { similarity } from "./graders/similarity/similarity.ts";
import { gradeCost, gradeDuration, gradeRequests, gradeTokens } from "./graders/spend.ts";
import { gradeContains, gradeEquals, gradeNotContains, gradeRegex } from "./graders/text.ts";
import {
  gradeToolCall,
  gradeToolCount,
  gradeToolsCalled,
  gradeToolsInOrder,
  gradeToolsNotCalled,
} from "./graders/tools.ts";
import type { TrialFacts, TrialTurnFacts } from "./trial/trial-facts.ts";

type Said = Finding | Promise<Finding>;

const OF_TURN: {
  readonly [Kind in TurnGraderKind]: (
    given: GraderParams<Kind>,
    turn: TrialTurnFacts,
    surroundings: GraderContext,
  ) => Said;
} = {
  equals: gradeEquals,
  contains: gradeContains,
  not_contains: gradeNotContains,
  regex: gradeRegex,
  json: gradeJson,
  json_schema: gradeJsonSchema,
  number: gradeNumber,
  similarity,
  output: gradeOutput,
  stop_reason: gradeStopReason,
  rubric: gradeRubric,
  faithfulness: gradeFaithfulness,
  relevance: gradeRelevance,
};

const OF_TRIAL: {
  readonly [Kind in Exclude<GraderKind, TurnGraderKind>]: (
    given: GraderParams<Kind>,
    surroundings: GraderContext,
  ) => Said;
} = {
  tools_called: gradeToolsCalled,
  tools_not_called: gradeToolsNotCalled,
  tools_in_order: gradeToolsInOrder,
  tool_call: gradeToolCall,
  tool_count: gradeToolCount,
  decisions: gradeDecisions,
  files: gradeFiles,
  diff: gradeDiff,
  only_changed: gradeOnlyChanged,
  command: gradeCommand,
  cost: gradeCost,
  tokens: gradeTokens,
  requests: gradeRequests,
  duration: gradeDuration,
  subagents: gradeSubagents,
  recovery: gradeRecovery,
  code: gradeCode,
};

/**
 * Runs one grader on a trial. Rejects with a GraderError if it cannot decide, which is not a verdict about the agent;
 * and with the signal's reason if that aborts.
 */
export async function grade(grader: Grader, facts: TrialFacts, deps: GraderDeps): Promise<GraderVerdict> {
  deps.signal.throwIfAborted();
  const name = grader.name ?? grader.kind;
  try {
    const { passed, score = passed ? 1 : 0, message, diff: shown } = await findingOf(grader, { facts, deps });
    // If stopped from outside, it says nothing about the agent.
    deps.signal.throwIfAborted();
    return { grader: name, passed, score, message, ...(shown !== undefined && { diff: shown }) };
  } catch (thrown) {
    deps.signal.throwIfAborted();
    throw new GraderError(`${name}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

function findingOf(grader: Grader, surroundings: GraderContext): Said {
  if (!isOfTurn(grader)) {
    // The compiler cannot see that a grader's kind and options belong together.
    const find = OF_TRIAL[grader.kind] as (given: unknown, surroundings: GraderContext) => Said;
    return find(grader.given, surroundings);
  }
  const { turns } = surroundings.facts;
  const turn = grader.turn === undefined ? turns.at(-1) : turns[grader.turn - 1];
  if (turn === undefined)
    return failedWith(`expected turn ${grader.turn ?? 1} to exist (found ${turns.length} turns that ended)`);
  const find = OF_TURN[grader.kind] as (given: unknown, turn: TrialTurnFacts, surroundings: GraderContext) => Said;
  return find(grader.given, turn, surroundings);
}

function isOfTurn(grader: Grader): grader is GraderOf<TurnGraderKind> {
  return (TURN_GRADERS as readonly GraderKind[]).includes(grader.kind);
}
