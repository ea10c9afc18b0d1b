import { messageOf } from "../core/errors.ts";
import {
  type Given,
  type Grader,
  type GraderKind,
  type GraderOf,
  TURN_GRADERS,
  type TurnGraderKind,
} from "../core/suite/grader-schema.ts";
import type { Verdict } from "../core/suite/suite-run.ts";
import { code } from "./graders/code.ts";
import { command } from "./graders/command.ts";
import { recovery, stopReason, subagents } from "./graders/course.ts";
import { decisions } from "./graders/decisions.ts";
import { diff, files, onlyChanged } from "./graders/files.ts";
import { failedWith, type Finding, type GraderDeps, GraderError, type Surroundings } from "./graders/grader.ts";
import { json, jsonSchema, output } from "./graders/json.ts";
import { faithfulness, relevance, rubric } from "./graders/judged.ts";
import { number } from "./graders/number.ts";
import { similarity } from "./graders/similarity/similarity.ts";
import { cost, duration, requests, tokens } from "./graders/spend.ts";
import { contains, equals, notContains, regex } from "./graders/text.ts";
import { toolCall, toolCount, toolsCalled, toolsInOrder, toolsNotCalled } from "./graders/tools.ts";
import type { TrialFacts, TurnFacts } from "./trial/trial-facts.ts";

type Said = Finding | Promise<Finding>;

const OF_TURN: {
  readonly [Kind in TurnGraderKind]: (given: Given<Kind>, turn: TurnFacts, surroundings: Surroundings) => Said;
} = {
  equals,
  contains,
  not_contains: notContains,
  regex,
  json,
  json_schema: jsonSchema,
  number,
  similarity,
  output,
  stop_reason: stopReason,
  rubric,
  faithfulness,
  relevance,
};

const OF_TRIAL: {
  readonly [Kind in Exclude<GraderKind, TurnGraderKind>]: (given: Given<Kind>, surroundings: Surroundings) => Said;
} = {
  tools_called: toolsCalled,
  tools_not_called: toolsNotCalled,
  tools_in_order: toolsInOrder,
  tool_call: toolCall,
  tool_count: toolCount,
  decisions,
  files,
  diff,
  only_changed: onlyChanged,
  command,
  cost,
  tokens,
  requests,
  duration,
  subagents,
  recovery,
  code,
};

/**
 * Runs one grader on a trial. Rejects with a GraderError if it cannot decide, which is not a verdict about the agent;
 * and with the signal's reason if that aborts.
 */
export async function grade(grader: Grader, facts: TrialFacts, deps: GraderDeps): Promise<Verdict> {
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

function findingOf(grader: Grader, surroundings: Surroundings): Said {
  if (!isOfTurn(grader)) {
    // The compiler cannot see that a grader's kind and options belong together.
    const find = OF_TRIAL[grader.kind] as (given: unknown, surroundings: Surroundings) => Said;
    return find(grader.given, surroundings);
  }
  const { turns } = surroundings.facts;
  const turn = grader.turn === undefined ? turns.at(-1) : turns[grader.turn - 1];
  if (turn === undefined)
    return failedWith(`expected turn ${grader.turn ?? 1} to exist (found ${turns.length} turns that ended)`);
  const find = OF_TURN[grader.kind] as (given: unknown, turn: TurnFacts, surroundings: Surroundings) => Said;
  return find(grader.given, turn, surroundings);
}

function isOfTurn(grader: Grader): grader is GraderOf<TurnGraderKind> {
  return (TURN_GRADERS as readonly GraderKind[]).includes(grader.kind);
}
