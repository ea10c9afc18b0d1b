import { z } from "zod";

/** A run of suites, as saved, served under `/api/suites`, written by `--report json` and read by `--baseline`. */
export const SUITE_RUN_FORMAT = 1;

const verdict = z.strictObject({
  /** The grader's display name, such as `contains`. */
  grader: z.string(),
  passed: z.boolean(),
  /** From 0 to 1; 1 or 0 for graders that only pass or fail. */
  score: z.number(),
  /** What was expected and what was found, in one or a few lines. */
  message: z.string(),
  /** A unified diff, if useful. */
  diff: z.string().optional(),
});

const step = z.strictObject({
  /** `main`, or the subagent's name. */
  thread: z.string(),
  kind: z.enum(["message", "user", "thinking", "tool", "approval", "error", "limit", "note"]),
  /** One line. */
  title: z.string(),
  /** The full text, truncated to keep reports small. */
  text: z.string().optional(),
  /** For a tool call: its outcome. */
  outcome: z.string().optional(),
});

const trial = z.strictObject({
  trial: z.number().int().positive(),
  /** `failed`: a grader failed; `error`: the trial could not be run or judged. */
  status: z.enum(["passed", "failed", "error"]),
  sessionId: z.string().nullable(),
  /** The stop reason of the last turn. */
  stopReason: z.string().nullable(),
  /** The agent's last text. */
  text: z.string(),
  output: z.unknown().optional(),
  usd: z.number().nullable(),
  /** The cost of its judges, not included in `usd`. */
  judgeUsd: z.number(),
  tokens: z.strictObject({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheCreation: z.number() }),
  requests: z.number().int(),
  durationMs: z.number(),
  verdicts: z.array(verdict),
  /** Why it could not be run, and what to do. */
  error: z.string().optional(),
  drifts: z.array(
    z.strictObject({
      thread: z.string(),
      ordinal: z.number(),
      what: z.string(),
      summary: z.string(),
      diff: z.string(),
    }),
  ),
  /** Differences from the cassette that are ignored: they vary by nature, or the case says so. */
  ignored: z
    .array(z.strictObject({ thread: z.string(), ordinal: z.number(), kinds: z.array(z.string()), diff: z.string() }))
    .default([]),
  /** What happened, in order. */
  steps: z.array(step),
  /** The workspace's changes as a unified diff. */
  changes: z.string(),
});

const caseRun = z.strictObject({
  case: z.string(),
  tags: z.array(z.string()),
  status: z.enum(["passed", "failed", "error", "skipped", "not_run"]),
  /** Why it was skipped or not run. */
  reason: z.string().optional(),
  /** The share of trials that must pass. */
  needed: z.number(),
  /** Probability that one of k trials passes, and that all k do, by k. */
  passAt: z.record(z.string(), z.number()),
  passAll: z.record(z.string(), z.number()),
  trials: z.array(trial),
});

const suiteResult = z.strictObject({
  suite: z.string(),
  /** Relative to where the run was started. */
  file: z.string(),
  agent: z.string(),
  agentHash: z.string(),
  cases: z.array(caseRun),
  gates: z.array(z.strictObject({ gate: z.string(), passed: z.boolean(), message: z.string() })),
  regressions: z.array(z.strictObject({ what: z.string(), case: z.string().optional(), message: z.string() })),
});

export const suiteRun = z.strictObject({
  format: z.literal(SUITE_RUN_FORMAT),
  id: z.string(),
  project: z.string(),
  mode: z.enum(["record", "replay", "live", "rehearsal"]),
  /** ISO 8601. */
  startedAt: z.string(),
  durationMs: z.number(),
  capstan: z.string(),
  sdk: z.string(),
  /** 0 passed, 1 failures, 2 configuration, 3 execution. */
  exitCode: z.number().int(),
  suites: z.array(suiteResult),
  /** What the run could not do: files that could not be read, reports that could not be written. */
  problems: z.array(z.string()),
});

export type SuiteRun = z.infer<typeof suiteRun>;
export type SuiteResult = z.infer<typeof suiteResult>;
export type CaseRun = z.infer<typeof caseRun>;
export type TrialRun = z.infer<typeof trial>;
export type TrialStep = z.infer<typeof step>;
export type GraderVerdict = z.infer<typeof verdict>;
