import type { Cassette } from "../../core/suite/cassette.ts";
import { DEFAULT_ENGINE, type EngineName } from "../../core/agent/engine-name.ts";
import type { TrialRun, GraderVerdict } from "../../core/suite/suite-run.ts";
import type { Drift, Tape } from "../../core/ports/tape.ts";
import type { CaseAnswers } from "./answers.ts";
import type { Judgement } from "../grading.ts";
import { stepsOf } from "./steps.ts";
import type { TrialFacts } from "./trial-facts.ts";
import type { TrialRequest } from "./trial.ts";

/** The name of the case's own session on a cassette. */
export const CASE = "case";

/** The result of a trial that reached its end. */
export function trialRun(
  trial: number,
  {
    facts,
    judged,
    tapes,
    answers,
    ended,
    request,
  }: {
    facts: TrialFacts;
    judged: Judgement;
    tapes: readonly Tape[];
    answers: CaseAnswers;
    /** Why it did not reach its end, if so. */
    ended: string | undefined;
    request: Pick<TrialRequest, "cassette" | "acceptDrift" | "case">;
  },
): TrialRun {
  const verdicts = [...ofTheRun(tapes, answers, request), ...judged.verdicts];
  const last = facts.turns.at(-1);
  const error = ended ?? (judged.errors.length === 0 ? undefined : judged.errors.join("\n"));
  const hasPassed = verdicts.every(({ passed }) => passed);
  return {
    trial,
    status: error === undefined ? (hasPassed ? "passed" : "failed") : "error",
    sessionId: facts.sessionId,
    stopReason: last?.stopReason ?? null,
    text: last?.text ?? "",
    ...(last?.output !== undefined && { output: last.output }),
    usd: facts.usd,
    judgeUsd: judged.usd,
    tokens: facts.tokens,
    requests: facts.requests,
    durationMs: facts.durationMs,
    verdicts,
    ...(error !== undefined && { error }),
    drifts: driftsOf(tapes).map(({ thread, ordinal, what, summary, diff }) => ({
      thread,
      ordinal,
      what,
      summary,
      diff,
    })),
    ignored: tapes.flatMap(({ ignored }) =>
      ignored.map(({ session, thread, ordinal, kinds, diff }) => ({
        thread: lineOf(session, thread),
        ordinal,
        kinds: [...kinds],
        diff,
      })),
    ),
    steps: [...stepsOf(facts.events)],
    changes: facts.diff,
  };
}

/** Checks that apply to every case: the cassette matches, and every request was answered. */
function ofTheRun(
  tapes: readonly Tape[],
  { unanswered }: CaseAnswers,
  { cassette, acceptDrift, case: { engine } }: Pick<TrialRequest, "cassette" | "acceptDrift" | "case">,
): GraderVerdict[] {
  return [
    ...(acceptDrift ? [] : ofTheCassette(tapes, cassette, engine)),
    ...(driftsOf(tapes).length > 0 ? [] : tapes.flatMap(({ unmet }) => unmet)).map(({ kind, at, thread }) =>
      failedVerdict(
        "faults",
        `The fault ${kind} at request ${at} of ${thread} did not occur: there were fewer requests. Use an earlier one (at), or remove the fault.`,
      ),
    ),
    ...unanswered.map((what) =>
      failedVerdict("answers", `The case has no answer for: ${what}. Add one under answers.`),
    ),
  ];
}

function ofTheCassette(tapes: readonly Tape[], cassette: Cassette | undefined, engine: EngineName): GraderVerdict[] {
  const again = cassette === undefined ? AGAIN : remedyFor(cassette, engine);
  const drifts = driftsOf(tapes);
  if (drifts.length > 0)
    return drifts.map(({ thread, ordinal, summary, diff }) =>
      failedVerdict(
        "cassette",
        `Request ${ordinal} of ${thread} has changed since it was recorded: ${summary}. ${again}`,
        diff,
      ),
    );
  const unplayed = [
    ...tapes.flatMap((tape) =>
      tape.unplayed.map(({ thread, ordinal }) => `${lineOf(tape.session, thread)} ${ordinal}`),
    ),
    // A judge that the case no longer has.
    ...new Set(
      cassette?.threads.flatMap(({ session }) => (tapes.some((tape) => tape.session === session) ? [] : [session])),
    ),
  ];
  return unplayed.length === 0
    ? []
    : [failedVerdict("cassette", `The cassette has unused answers: ${unplayed.join(", ")}. ${again}`)];
}

/** Engines use different tools and prompts, so their requests rarely match. */
function remedyFor({ recorded }: Cassette, engine: EngineName): string {
  const before = recorded.engine ?? DEFAULT_ENGINE;
  return before === engine
    ? AGAIN
    : `It was recorded on the ${before} engine and replayed on ${engine}. Replay it on ${before} (--engine ${before}), accept the differences (--accept-drift), or delete the cassette and record the case on ${engine}.`;
}

const AGAIN = "If that is intended, delete the cassette and record the case again: capstan test --record";

/** A judge is not a thread of the agent. */
function driftsOf(tapes: readonly Tape[]): readonly Drift[] {
  return tapes
    .flatMap(({ drifts }) => drifts)
    .map((drift) => ({ ...drift, thread: lineOf(drift.session, drift.thread) }));
}

function lineOf(session: string, thread: string): string {
  return session === CASE ? thread : `${session}, ${thread}`;
}

function failedVerdict(grader: string, message: string, diff?: string): GraderVerdict {
  return { grader, passed: false, score: 0, message, ...(diff !== undefined && { diff }) };
}
