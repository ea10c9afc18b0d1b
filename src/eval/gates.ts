import type { Suite } from "../core/suite/suite.ts";
import type { CaseRun, SuiteResult } from "../core/suite/suite-run.ts";
import { duration, percent, preciseMoney } from "../words/amounts.ts";

/** 0.1 + 0.2 is slightly more than 0.3 in floating point. */
const ROUNDING = 1e-9;

/** What the suite as a whole must reach. Skipped cases do not count. */
export function gatesOf({ gates }: Suite, cases: readonly CaseRun[]): SuiteResult["gates"] {
  const trials = cases.flatMap((one) => one.trials);
  const ran = cases.filter(({ status }) => status !== "skipped");
  const results: SuiteResult["gates"] = [];
  if (gates.pass_rate !== undefined && ran.length > 0) {
    const rate = ran.filter(({ status }) => status === "passed").length / ran.length;
    results.push({
      gate: "pass_rate",
      passed: rate >= gates.pass_rate,
      message: `${percent(rate)} of the cases passed; at least ${percent(gates.pass_rate)} must`,
    });
  }
  if (gates.usd !== undefined) {
    const usd = trials.reduce((sum, trial) => sum + (trial.usd ?? 0) + trial.judgeUsd, 0);
    const unknown = trials.filter((trial) => trial.usd === null).length;
    results.push({
      gate: "usd",
      passed: usd <= gates.usd + ROUNDING && unknown === 0,
      message:
        unknown === 0
          ? `the trials cost ${preciseMoney(usd)}; at most ${preciseMoney(gates.usd)} is allowed`
          : `the cost of ${unknown} of ${trials.length} trials is unknown, because a model has no known price. Add it to prices in the settings; at most ${preciseMoney(gates.usd)} is allowed, and the known cost is ${preciseMoney(usd)}`,
    });
  }
  const { durationMs: limit } = gates;
  if (limit !== undefined) {
    const total = trials.reduce((sum, { durationMs }) => sum + durationMs, 0);
    results.push({
      gate: "duration",
      passed: total <= limit,
      message: `the trials took ${duration(total)} in total; at most ${duration(limit)} is allowed`,
    });
  }
  return results;
}
