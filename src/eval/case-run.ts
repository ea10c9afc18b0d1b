import type { Case } from "../core/suite/suite.ts";
import type { CaseRun, TrialRun } from "../core/suite/suite-run.ts";
import { passAtK } from "./pass-at-k.ts";

/** Combines the trials of a case. */
export function caseRun({ name, tags, passRate }: Case, trials: readonly TrialRun[]): CaseRun {
  const passed = trials.filter(({ status }) => status === "passed").length;
  const { any, all } = passAtK(trials.length, passed);
  const isEnough = trials.length > 0 && passed / trials.length >= passRate;
  return {
    case: name,
    tags: [...tags],
    // An error says nothing about the agent, unless enough other trials passed.
    status: isEnough ? "passed" : trials.some(({ status }) => status === "error") ? "error" : "failed",
    needed: passRate,
    passAt: byK(any),
    passAll: byK(all),
    trials: [...trials],
  };
}

/** A case that was left out, and why. */
export function leftOut(
  { name, tags, passRate }: Case,
  status: Extract<CaseRun["status"], "skipped" | "not_run">,
  reason: string,
): CaseRun {
  return { case: name, tags: [...tags], status, reason, needed: passRate, passAt: {}, passAll: {}, trials: [] };
}

function byK(chances: readonly number[]): Record<string, number> {
  return Object.fromEntries(chances.map((chance, index) => [String(index + 1), chance]));
}
