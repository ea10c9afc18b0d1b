import type { CaseRun, SuiteRun } from "./suite-run.ts";

export type CaseStatus = CaseRun["status"];

/** In display order. */
export const CASE_STATUSES = [
  "passed",
  "failed",
  "error",
  "not_run",
  "skipped",
] as const satisfies readonly CaseStatus[];

/** The totals of some cases. */
export interface CasesSummary {
  readonly cases: number;
  readonly counts: Readonly<Record<CaseStatus, number>>;
  readonly trials: number;
  /** List price of all trials and their judges. */
  readonly usd: number;
  /** Trials with an unknown price, not included in `usd`. */
  readonly unpricedTrials: number;
  readonly tokens: CaseRun["trials"][number]["tokens"];
  readonly requests: number;
}

export interface RunSummary extends CasesSummary {
  readonly suites: readonly string[];
  readonly failedGates: number;
  readonly regressions: number;
  readonly problems: number;
  /** From the start to the end of the run; trials may run in parallel. */
  readonly durationMs: number;
}

/** The totals of a run, for the console, the reports and lists of runs. */
export function runSummary({ suites, problems, durationMs }: SuiteRun): RunSummary {
  const gates = suites.flatMap((suite) => suite.gates);
  return {
    ...casesSummary(suites.flatMap(({ cases }) => cases)),
    suites: suites.map(({ suite }) => suite),
    failedGates: gates.filter(({ passed }) => !passed).length,
    regressions: suites.flatMap(({ regressions }) => regressions).length,
    problems: problems.length,
    durationMs,
  };
}

export function casesSummary(cases: readonly CaseRun[]): CasesSummary {
  const trials = cases.flatMap((one) => one.trials);
  const sum = (of: (trial: CaseRun["trials"][number]) => number): number =>
    trials.reduce((total, trial) => total + of(trial), 0);
  const count = (status: CaseStatus): number => cases.filter((one) => one.status === status).length;
  return {
    cases: cases.length,
    counts: {
      passed: count("passed"),
      failed: count("failed"),
      error: count("error"),
      not_run: count("not_run"),
      skipped: count("skipped"),
    },
    trials: trials.length,
    usd: sum(({ usd, judgeUsd }) => (usd ?? 0) + judgeUsd),
    unpricedTrials: trials.filter(({ usd }) => usd === null).length,
    tokens: {
      input: sum(({ tokens }) => tokens.input),
      output: sum(({ tokens }) => tokens.output),
      cacheRead: sum(({ tokens }) => tokens.cacheRead),
      cacheCreation: sum(({ tokens }) => tokens.cacheCreation),
    },
    requests: sum(({ requests }) => requests),
  };
}
