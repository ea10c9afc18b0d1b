import type { Suite } from "../../core/suite/suite.ts";
import type { CaseRun, SuiteResult, SuiteRun } from "../../core/suite/suite-run.ts";
import { duration, preciseMoney } from "../../words/amounts.ts";

type Margins = Suite["margins"];
type Regression = SuiteResult["regressions"][number];

const MARGINS = { pass_rate: 0, usd: 0.1 };
/** Without a model, the time depends on the machine; it is compared only if the suite sets a margin. */
const DURATION = { live: 0.5, record: 0.5, replay: Infinity, rehearsal: Infinity } as const;
/** Smaller differences in cost or time are noise, whatever their share. */
const MIN_USD = 0.0001;
const MIN_MS = 1000;
/** 0.8 - 0.1 is slightly more than 0.7 in floating point. */
const ROUNDING = 1e-9;

/** Where a suite is worse than the baseline by more than its margins. A case that was not run counts as worse. */
export function regressionsOf(
  now: Pick<SuiteResult, "suite" | "cases">,
  before: SuiteRun,
  { margins, mode }: { readonly margins: Margins; readonly mode: SuiteRun["mode"] },
): Regression[] {
  const old = before.suites.find(({ suite }) => suite === now.suite);
  if (old === undefined) return [];
  const limits = { ...MARGINS, duration: DURATION[mode], ...margins };
  return old.cases.flatMap((was) => {
    if (was.trials.length === 0) return [];
    const is = now.cases.find((one) => one.case === was.case);
    // It was skipped on purpose.
    if (is?.status === "skipped") return [];
    if (is === undefined || is.trials.length === 0)
      return [{ what: "case", case: was.case, message: "it is in the baseline but was not run" }];
    return compare(was, is, limits);
  });
}

function compare(was: CaseRun, is: CaseRun, limits: Required<Margins>): Regression[] {
  const found: Regression[] = [];
  const worse = (what: string, message: string): void => void found.push({ what, case: was.case, message });
  const [rateBefore, rateNow] = [rateOf(was), rateOf(is)];
  if (rateNow < rateBefore - limits.pass_rate - ROUNDING)
    worse("pass_rate", `the pass rate fell from ${rateBefore.toFixed(2)} to ${rateNow.toFixed(2)}`);
  if (is.trials.some(({ usd }) => usd === null) && was.trials.every(({ usd }) => usd !== null))
    worse("usd", "the cost of a trial is no longer known: a model has no known price");
  const [costBefore, costNow] = [mean(was, ({ usd }) => usd ?? 0), mean(is, ({ usd }) => usd ?? 0)];
  if (costNow > costBefore * (1 + limits.usd) + ROUNDING && costNow - costBefore > MIN_USD)
    worse(
      "usd",
      `a trial cost ${preciseMoney(costBefore)} and now costs ${preciseMoney(costNow)}${more(costBefore, costNow)}`,
    );
  const [timeBefore, timeNow] = [mean(was, ({ durationMs }) => durationMs), mean(is, ({ durationMs }) => durationMs)];
  if (timeNow > timeBefore * (1 + limits.duration) && timeNow - timeBefore > MIN_MS)
    worse(
      "duration",
      `a trial took ${duration(timeBefore)} and now takes ${duration(timeNow)}${more(timeBefore, timeNow)}`,
    );
  return found;
}

function rateOf({ trials }: CaseRun): number {
  return trials.filter(({ status }) => status === "passed").length / trials.length;
}

function mean({ trials }: CaseRun, of: (trial: CaseRun["trials"][number]) => number): number {
  return trials.reduce((sum, trial) => sum + of(trial), 0) / trials.length;
}

function more(before: number, now: number): string {
  return before === 0 ? "" : ` (+${Math.round((now / before - 1) * 100)}%)`;
}
