import type { WireSuiteRun, WireSuiteRunSummary } from "../../../src/client/index.ts";
import { CASE_STATUSES, type CasesSummary, STATUS_WORDS } from "../../../src/protocol/api/suite-run-facts.ts";
import { count, money } from "../../../src/words/amounts.ts";

export type SuiteResult = WireSuiteRun["suites"][number];
export type CaseRun = SuiteResult["cases"][number];
export type TrialRun = CaseRun["trials"][number];
export type TrialStep = TrialRun["steps"][number];
export type GraderVerdict = TrialRun["verdicts"][number];
export type RunMode = WireSuiteRun["mode"];

export const RUN_MODE_WORDS: Readonly<Record<RunMode, string>> = {
  record: "Recorded",
  replay: "Replayed from cassettes",
  live: "Live",
  rehearsal: "Rehearsal",
};

/** Such as `12 passed, 1 failed`; zero counts are left out. */
export function countsText(counts: CasesSummary["counts"]): string {
  const told = CASE_STATUSES.filter((status) => counts[status] > 0).map(
    (status) => `${counts[status]} ${STATUS_WORDS[status]}`,
  );
  return told.length === 0 ? "no cases" : told.join(", ");
}

/** Whether no case failed. Skipped cases are fine. */
export function isGood(counts: CasesSummary["counts"]): boolean {
  return counts.failed === 0 && counts.error === 0 && counts.not_run === 0;
}

/** With ≥ if some prices are unknown. */
export function priceOf({ usd: amount, unpricedTrials }: Pick<CasesSummary, "usd" | "unpricedTrials">): string {
  return unpricedTrials === 0 ? money(amount) : `≥ ${money(amount)}`;
}

export function priceOfWire(run: Pick<WireSuiteRunSummary, "usd" | "unpriced_trials">): string {
  return priceOf({ usd: run.usd, unpricedTrials: run.unpriced_trials });
}

/** Such as `2 of 3 trials`, with the required share if it is not 100%. */
export function passedOf({ trials, needed }: CaseRun): string {
  const passed = trials.filter(({ status }) => status === "passed").length;
  const share = `${passed} of ${count(trials.length, "trial")}`;
  return needed === 1 ? share : `${share} (${Math.round(needed * 100)}% needed)`;
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
