import { z } from "zod";
import type { StoredRun, StoredSuite } from "../../core/ports/suite-run-store.ts";
import type { CasesSummary } from "../../core/suite/suite-run-summary.ts";
import { suiteRun } from "../../core/suite/suite-run.ts";
import { isoTime, queryNumber, timestamp } from "./common.ts";

const counts = z.object({
  passed: z.int(),
  failed: z.int(),
  error: z.int(),
  not_run: z.int(),
  skipped: z.int(),
});

const sums = {
  cases: z.int(),
  counts: counts.describe("The number of cases by result."),
  trials: z.int(),
  usd: z.number().describe("List price of the trials and their judges. Replays and rehearsals are free."),
  unpriced_trials: z.int().describe("Trials with an unknown price; not in `usd`."),
};

/** A run as shown in lists. */
export const suiteRunSummary = z.object({
  id: z.string(),
  started_at: timestamp,
  duration_ms: z.number(),
  mode: z.enum(["record", "replay", "live", "rehearsal"]),
  exit_code: z.int().describe("0 passed, 1 failures, 2 configuration, 3 execution."),
  suites: z.array(z.string()),
  ...sums,
  failed_gates: z.int(),
  regressions: z.int().describe("Compared with the baseline."),
  problems: z.int().describe("Errors of the run, such as a suite that could not be read."),
});
export type WireSuiteRunSummary = z.infer<typeof suiteRunSummary>;

export const suite = z.object({
  suite: z.string(),
  file: z.string().describe("As of the last run."),
  agent: z.string(),
  ...sums,
  last_run: suiteRunSummary.describe(
    "Includes all suites that ran together; the totals next to it are for this suite only.",
  ),
});
export type WireSuite = z.infer<typeof suite>;

/** A complete run, with the names that `--report json` writes and `--baseline` reads. */
export const wholeSuiteRun = suiteRun;
export type { SuiteRun as WireSuiteRun } from "../../core/suite/suite-run.ts";

export const deletedSuiteRun = z.object({ id: z.string(), deleted: z.literal(true) });

export const suiteRunQuery = z.strictObject({
  suite: z.string().min(1).optional().describe("Only runs of the suite with this name."),
  limit: queryNumber({ min: 1, max: 100 }).default(20),
  after: z.string().optional().describe("Only runs after the one with this id: the last one of a page."),
});
export type SuiteRunSearch = Partial<z.output<typeof suiteRunQuery>>;

function sumsToWire({ cases, counts: by, trials, usd, unpricedTrials }: CasesSummary) {
  return { cases, counts: { ...by }, trials, usd, unpriced_trials: unpricedTrials };
}

export function suiteRunToWire(run: StoredRun): WireSuiteRunSummary {
  return {
    id: run.id,
    started_at: isoTime(run.startedAt),
    duration_ms: run.durationMs,
    mode: run.mode,
    exit_code: run.exitCode,
    suites: [...run.suites],
    ...sumsToWire(run),
    failed_gates: run.failedGates,
    regressions: run.regressions,
    problems: run.problems,
  };
}

export function suiteToWire({ suite: name, file, agent, summary, lastRun }: StoredSuite): WireSuite {
  return { suite: name, file, agent, ...sumsToWire(summary), last_run: suiteRunToWire(lastRun) };
}
