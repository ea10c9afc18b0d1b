import type { SuiteRun, TrialRun } from "../../core/suite/suite-run.ts";
import { comparableLog } from "./comparable-log.ts";
import { type LogDifference, logDifferences } from "./log-differences.ts";
import { type RunDeps, type RunRequest, runSuites } from "../run.ts";
import type { TrialFacts } from "../trial/trial-facts.ts";

/** How the suites' cassettes replay on another version of the engine. */
export interface CanaryRun {
  /** Versions. */
  readonly pinned: string;
  readonly other: string;
  readonly cases: readonly CanaryCase[];
  readonly problems: readonly string[];
  /** 0: no differences; 1: something differs; 2 and 3 as for a run. */
  readonly exitCode: number;
}

export interface CanaryCase {
  readonly suite: string;
  readonly case: string;
  readonly trial: number;
  readonly status: "same" | "different" | "not_compared";
  /** Why it was not compared. */
  readonly reason?: string;
  /** The trial's status on each version. */
  readonly before: TrialRun["status"];
  readonly after: TrialRun["status"];
  /** Why it could not run on the other version. */
  readonly error?: string;
  /** Model requests that differ on the other version. */
  readonly drifts: TrialRun["drifts"];
  readonly differences: readonly LogDifference[];
}

export type CanaryRequest = Omit<RunRequest, "mode" | "sdk" | "baseline" | "acceptDrift">;

export interface CanarySide {
  readonly sdk: string;
  readonly deps: RunDeps;
}

/** Replays every case on both versions in turn, and compares the logs. */
export async function runCanary(
  request: CanaryRequest,
  { pinned, other }: { readonly pinned: CanarySide; readonly other: CanarySide },
): Promise<CanaryRun> {
  const before = await side(request, pinned, { acceptDrift: false });
  // Continue after a differing request, so that its consequences are reported too.
  const after = await side(request, other, { acceptDrift: true });
  const cases = before.run.suites.flatMap((suite) =>
    suite.cases.flatMap((one) =>
      one.trials.map((trial): CanaryCase => {
        const about = { suite: suite.suite, case: one.case, trial: trial.trial };
        const key = keyOf(about);
        return {
          ...about,
          ...compareTrials([trial, before.facts.get(key)], [after.trials.get(key), after.facts.get(key)]),
        };
      }),
    ),
  );
  const { exitCode } = before.run;
  const isSame = cases.every(({ status }) => status === "same");
  return {
    pinned: pinned.sdk,
    other: other.sdk,
    cases,
    problems: [...before.run.problems, ...leftOver(before.run)],
    exitCode: exitCode > 1 ? exitCode : isSame ? 0 : 1,
  };
}

function leftOver({ suites }: SuiteRun): readonly string[] {
  return suites.flatMap(({ suite, cases }) =>
    cases
      .filter(({ status }) => status === "not_run")
      .map(({ case: name, reason = "" }) => `${suite}: ${name} was not run: ${reason}`),
  );
}

interface Side {
  readonly run: SuiteRun;
  readonly trials: ReadonlyMap<string, TrialRun>;
  readonly facts: ReadonlyMap<string, TrialFacts>;
}

async function side(
  request: CanaryRequest,
  { sdk, deps }: CanarySide,
  { acceptDrift }: Pick<RunRequest, "acceptDrift">,
): Promise<Side> {
  const facts = new Map<string, TrialFacts>();
  const run = await runSuites(
    { ...request, mode: "replay", baseline: undefined, acceptDrift, sdk },
    {
      ...deps,
      async trial(wanted) {
        const outcome = await deps.trial(wanted);
        const about = { suite: wanted.suite.name, case: wanted.case.name, trial: wanted.trial };
        if (outcome.facts !== undefined) facts.set(keyOf(about), outcome.facts);
        return outcome;
      },
    },
  );
  const trials = run.suites.flatMap(({ suite, cases }) =>
    cases.flatMap((one) =>
      one.trials.map((trial) => [keyOf({ suite, case: one.case, trial: trial.trial }), trial] as const),
    ),
  );
  return { run, facts, trials: new Map(trials) };
}

function keyOf(about: Pick<CanaryCase, "suite" | "case" | "trial">): string {
  return JSON.stringify([about.suite, about.case, about.trial]);
}

type Ended = readonly [trial: TrialRun | undefined, facts: TrialFacts | undefined];

function compareTrials(
  [then, factsThen]: readonly [TrialRun, TrialFacts | undefined],
  [now, factsNow]: Ended,
): Omit<CanaryCase, "suite" | "case" | "trial"> {
  const ends = { before: then.status, after: now?.status ?? "error" };
  const nothing = { ...ends, drifts: [], differences: [] };
  const stale = then.drifts[0]?.summary;
  if (stale !== undefined)
    return {
      ...nothing,
      status: "not_compared",
      reason: `the cassette does not match the pinned version either (${stale}): record it again`,
    };
  if (factsThen === undefined) return { ...nothing, status: "not_compared", reason: then.error ?? "it did not run" };
  if (now === undefined || factsNow === undefined)
    return { ...nothing, status: "different", error: now?.error ?? "It did not run." };
  const [log, other] = [factsThen, factsNow].map(({ events, workspace }) =>
    comparableLog(events, { WORKSPACE: workspace }),
  );
  const differences = logDifferences(log ?? {}, other ?? {});
  const isSame = differences.length === 0 && now.drifts.length === 0 && then.status === now.status;
  return {
    ...ends,
    status: isSame ? "same" : "different",
    ...(now.error !== undefined && { error: now.error }),
    drifts: now.drifts,
    differences,
  };
}
