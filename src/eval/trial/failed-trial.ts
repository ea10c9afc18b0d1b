import type { TrialRun } from "../../core/suite/suite-run.ts";

/** A trial that could not run. */
export function failedTrial(trial: number, error: string): TrialRun {
  return {
    trial,
    status: "error",
    sessionId: null,
    stopReason: null,
    text: "",
    usd: 0,
    judgeUsd: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 },
    requests: 0,
    durationMs: 0,
    verdicts: [],
    error,
    drifts: [],
    ignored: [],
    steps: [],
    changes: "",
  };
}
