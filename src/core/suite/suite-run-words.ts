import type { CaseRun, SuiteRun, TrialRun, TrialStep } from "./suite-run.ts";
import type { CasesSummary, CaseStatus } from "./suite-run-summary.ts";
import { count } from "../../words/amounts.ts";

/** Texts about runs, shared by the reports and the console. */

export const STATUS_WORDS: Readonly<Record<CaseStatus, string>> = {
  passed: "passed",
  failed: "failed",
  error: "error",
  not_run: "not run",
  skipped: "skipped",
};

/** What the exit code means. */
export function runOutcome({ exitCode }: Pick<SuiteRun, "exitCode">): string {
  if (exitCode === 0) return "Passed";
  if (exitCode === 1) return "Failed";
  return exitCode === 2 ? "Failed: not everything could be run" : "Failed: not everything could be carried out";
}

/**
 * Whether money was spent, and whether the price is complete: a replay and a rehearsal only show what the same would
 * cost.
 */
export function priceNote(
  { mode }: Pick<SuiteRun, "mode">,
  { unpricedTrials }: Pick<CasesSummary, "unpricedTrials">,
): string {
  const note = mode === "replay" || mode === "rehearsal" ? "list price, not billed" : "list price";
  return unpricedTrials === 0 ? note : `${note}; ${count(unpricedTrials, "trial")} of unknown price`;
}

export function inputTokens({ input, cacheRead, cacheCreation }: TrialRun["tokens"]): number {
  return input + cacheRead + cacheCreation;
}

/** The total, as if trials ran one after the other. */
export function timeOf({ trials }: Pick<CaseRun, "trials">): number {
  return trials.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** How many files a patch changes; empty if it is empty. */
export function changedFiles(diff: string): string {
  const files = diff.split("\n").filter((line) => line.startsWith("+++ ")).length;
  return files === 0 ? "" : count(files, "file");
}

/** The speaker or the kind of a step. */
export const WHO: Readonly<Record<TrialStep["kind"], string>> = {
  user: "user",
  message: "agent",
  thinking: "thinking",
  tool: "tool",
  approval: "approval",
  error: "error",
  limit: "limit",
  note: "note",
};

/** Consecutive steps of one thread. */
export interface Passage {
  readonly thread: string;
  readonly steps: readonly TrialStep[];
}

/** The steps in passages of one thread each: subagents may work in parallel. */
export function passagesOf(steps: readonly TrialStep[]): readonly Passage[] {
  const passages: { thread: string; steps: TrialStep[] }[] = [];
  for (const step of steps) {
    const last = passages.at(-1);
    if (last?.thread === step.thread) last.steps.push(step);
    else passages.push({ thread: step.thread, steps: [step] });
  }
  return passages;
}
