import type { CaseRun, TrialRun } from "../../core/suite/suite-run.ts";
import type { CasesSummary } from "../../core/suite/suite-run-summary.ts";
import { count, money, percent } from "../../words/amounts.ts";

/** Formats that only the reports use. */

/** With a mark if the actual cost is higher than known. */
export function priceText({ usd, unpricedTrials }: Pick<CasesSummary, "usd" | "unpricedTrials">): string {
  return unpricedTrials === 0 ? money(usd) : `≥ ${money(usd)}`;
}

/** Such as `2/3`, or `2/3 (50% needed)`. */
export function passedOf({ trials, needed }: Pick<CaseRun, "trials" | "needed">): string {
  const passed = trials.filter(({ status }) => status === "passed").length;
  const share = `${passed}/${trials.length}`;
  return needed === 1 ? share : `${share} (${percent(needed)} needed)`;
}

/** Such as `2026-03-01 12:00 UTC`. */
export function moment(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1 $2 UTC");
}

/** The first line of the reason a trial did not pass. */
export function whyNot({ error, verdicts }: Pick<TrialRun, "error" | "verdicts">): string {
  if (error !== undefined) return error;
  const failed = verdicts.find(({ passed }) => !passed);
  return failed === undefined ? "" : `${failed.grader}: ${failed.message}`;
}

/** Variations that do not count as drift; undefined if there are none. */
export function ignoredVariation(trials: readonly Pick<TrialRun, "ignored">[]): string | undefined {
  const all = trials.flatMap(({ ignored }) => ignored);
  if (all.length === 0) return undefined;
  const kinds = [...new Set(all.flatMap((one) => one.kinds))].join(", ");
  return `${count(all.length, "request")} ${all.length === 1 ? "has" : "have"} ignored differences: ${kinds}`;
}

/** Drift accepted by `--accept-drift`; undefined if there is none. */
export function acceptedDrift(trials: readonly Pick<TrialRun, "status" | "drifts">[]): string | undefined {
  const requests = trials
    .filter(({ status }) => status === "passed")
    .flatMap(({ drifts }) => [...new Set(drifts.map(({ thread, ordinal }) => `${thread} ${ordinal}`))]).length;
  if (requests === 0) return undefined;
  return `${count(requests, "request")} ${requests === 1 ? "differs" : "differ"} from the cassette (accepted)`;
}
