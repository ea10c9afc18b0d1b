import type { WireSuiteRun, WireSuiteRunSummary } from "../../../src/client/index.ts";
import { usd } from "../parts/amounts.ts";

export type SuiteResult = WireSuiteRun["suites"][number];
export type CaseRun = SuiteResult["cases"][number];
export type TrialRun = CaseRun["trials"][number];
export type TrialStep = TrialRun["steps"][number];
export type Verdict = TrialRun["verdicts"][number];
export type CaseStatus = CaseRun["status"];
export type Mode = WireSuiteRun["mode"];

/** In the order that people are told of them. */
export const CASE_STATUSES: readonly CaseStatus[] = ["passed", "failed", "error", "not_run", "skipped"];

export const STATUS_WORDS: Readonly<Record<CaseStatus, string>> = {
  passed: "passed",
  failed: "failed",
  error: "error",
  not_run: "not run",
  skipped: "skipped",
};

export const MODES: Readonly<Record<Mode, string>> = {
  record: "Recorded",
  replay: "Replayed from cassettes",
  live: "Live",
  rehearsal: "Rehearsal",
};

/** What the exit code means. */
export function outcomeOf(exitCode: number): string {
  if (exitCode === 0) return "Passed";
  if (exitCode === 1) return "Failed";
  return exitCode === 2 ? "Failed: not everything could be run" : "Failed: not everything could be carried out";
}

export type Counts = Readonly<Record<CaseStatus, number>>;

/** What some cases come to together. */
export interface CaseSums {
  readonly cases: number;
  readonly counts: Counts;
  readonly trials: number;
  readonly usd: number;
  readonly unpricedTrials: number;
  readonly input: number;
  readonly output: number;
  readonly requests: number;
}

export function sumsOf(cases: readonly CaseRun[]): CaseSums {
  const trials = cases.flatMap((one) => one.trials);
  const sum = (of: (trial: TrialRun) => number): number => trials.reduce((all, trial) => all + of(trial), 0);
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
    usd: sum(({ usd: cost, judgeUsd }) => (cost ?? 0) + judgeUsd),
    unpricedTrials: trials.filter(({ usd: cost }) => cost === null).length,
    input: sum(inputOf),
    output: sum(({ tokens }) => tokens.output),
    requests: sum(({ requests }) => requests),
  };
}

export function inputOf({ tokens: { input, cacheRead, cacheCreation } }: TrialRun): number {
  return input + cacheRead + cacheCreation;
}

/** Such as `12 passed, 1 failed`; what is none is left out. */
export function countsTold(counts: Counts): string {
  const told = CASE_STATUSES.filter((status) => counts[status] > 0).map(
    (status) => `${counts[status]} ${STATUS_WORDS[status]}`,
  );
  return told.length === 0 ? "no cases" : told.join(", ");
}

/** Whether none of the cases stands in the way. A case that was skipped on purpose does not. */
export function isGood(counts: Counts): boolean {
  return counts.failed === 0 && counts.error === 0 && counts.not_run === 0;
}

/** With a sign when more was spent than is known. */
export function priceOf({ usd: amount, unpricedTrials }: Pick<CaseSums, "usd" | "unpricedTrials">): string {
  return unpricedTrials === 0 ? usd(amount) : `≥ ${usd(amount)}`;
}

export function priceOfWire(run: Pick<WireSuiteRunSummary, "usd" | "unpriced_trials">): string {
  return priceOf({ usd: run.usd, unpricedTrials: run.unpriced_trials });
}

/** Whether money was spent: a replay and a rehearsal only show what the same would cost. */
export function priceNote(mode: Mode, unpricedTrials: number): string {
  const note = mode === "replay" || mode === "rehearsal" ? "list price, not billed" : "list price";
  return unpricedTrials === 0 ? note : `${note}; ${counted(unpricedTrials, "trial")} of unknown price`;
}

export function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en-US")} ${thing}${count === 1 ? "" : "s"}`;
}

/** Such as `2 of 3 trials`, with the share that is needed when it is not all. */
export function passedOf({ trials, needed }: CaseRun): string {
  const passed = trials.filter(({ status }) => status === "passed").length;
  const share = `${passed} of ${counted(trials.length, "trial")}`;
  return needed === 1 ? share : `${share} (${Math.round(needed * 100)}% needed)`;
}

/** Together, as if one after the other. */
export function timeOf({ trials }: CaseRun): number {
  return trials.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** The first line of why a case did not pass. */
export function whyNot(one: CaseRun): string {
  const trial = one.trials.find(({ status }) => status === one.status) ?? one.trials.find(isBad);
  if (trial === undefined) return one.reason ?? "";
  const failed = trial.verdicts.find(({ passed }) => !passed);
  const why = trial.error ?? (failed === undefined ? "" : `${failed.grader}: ${failed.message}`);
  return why.split("\n", 1)[0] ?? "";
}

function isBad({ status }: TrialRun): boolean {
  return status !== "passed";
}
