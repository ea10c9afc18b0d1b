import type { CaseRun, SuiteResult, SuiteRun, TrialRun } from "../../src/core/suite/suite-run.ts";

/** Runs of suites, for whoever shows or keeps them. */

export function sampleTrial(changes: Partial<TrialRun> = {}): TrialRun {
  return {
    trial: 1,
    status: "passed",
    sessionId: "sesn_0001",
    stopReason: "end_turn",
    text: "I moved the total into its own function and ran the tests: all 14 pass.",
    usd: 0.0132,
    judgeUsd: 0,
    tokens: { input: 1_204, output: 311, cacheRead: 10_240, cacheCreation: 2_048 },
    requests: 3,
    durationMs: 4_210,
    verdicts: [
      { grader: "contains", passed: true, score: 1, message: 'The answer contains "all 14 pass".' },
      { grader: "command", passed: true, score: 1, message: "node --test exited with 0." },
    ],
    drifts: [],
    ignored: [],
    steps: [
      { thread: "main", kind: "user", title: "Move the total into a function of its own." },
      { thread: "main", kind: "thinking", title: "I should read the file first." },
      {
        thread: "main",
        kind: "tool",
        title: 'Read {"file_path":"src/total.ts"}',
        text: '{\n  "file_path": "src/total.ts"\n}\n→ export const total = 1;',
        outcome: "completed",
      },
      { thread: "main", kind: "message", title: "I moved the total into its own function." },
      { thread: "main", kind: "note", title: "Idle: end_turn" },
    ],
    changes: "",
    ...changes,
  };
}

export function sampleCase(name: string, changes: Partial<CaseRun> = {}): CaseRun {
  const trials = changes.trials ?? [sampleTrial()];
  return { case: name, tags: [], status: "passed", needed: 1, passAt: {}, passAll: {}, trials, ...changes };
}

export function sampleSuite(suite: string, changes: Partial<SuiteResult> = {}): SuiteResult {
  return {
    suite,
    file: `suites/${suite}.test.yaml`,
    agent: "refactorer",
    agentHash: "4f1c2a9b7d3e5f60",
    cases: [sampleCase("moves a function")],
    gates: [],
    regressions: [],
    ...changes,
  };
}

export function sampleRun(changes: Partial<SuiteRun> = {}): SuiteRun {
  return {
    format: 1,
    id: "run_0001",
    project: "/srv/shop",
    mode: "replay",
    startedAt: "2026-03-01T12:00:00.000Z",
    durationMs: 18_400,
    capstan: "0.1.0",
    sdk: "0.3.325",
    exitCode: 0,
    suites: [sampleSuite("refactor")],
    problems: [],
    ...changes,
  };
}

const DIFF = `--- expected
+++ found
@@ -1,4 +1,4 @@
 export function total(items) {
-  return items.reduce((sum, { price }) => sum + price, 0);
+  return items.reduce((sum, { price, count }) => sum + price * count, 0);
 }
`;

/** A trial that failed in every way that there is, with two subagents that worked side by side. */
const FAILED = sampleTrial({
  status: "failed",
  usd: 0.0871,
  judgeUsd: 0.004,
  durationMs: 11_900,
  text: "The total is now computed from price and count. I could not run the tests.",
  output: { changed: ["src/total.ts"], tests: null },
  verdicts: [
    { grader: "tools", passed: true, score: 1, message: "Read was called." },
    {
      grader: "file src/total.ts",
      passed: false,
      score: 0,
      message: "Expected the content of the file as given; found another.",
      diff: DIFF,
    },
    {
      grader: "rubric",
      passed: false,
      score: 0.4,
      message: "Expected a score of at least 0.8; the judge gave 0.4: it does not say why the tests were not run.",
    },
  ],
  drifts: [
    {
      thread: "main",
      ordinal: 2,
      what: "tools",
      summary: "the tool Bash has another description",
      diff: "--- recorded\n+++ now\n@@ -1 +1 @@\n-Runs a command.\n+Runs a shell command.\n",
    },
  ],
  steps: [
    { thread: "main", kind: "user", title: "Make the total right, and have it reviewed." },
    {
      thread: "main",
      kind: "tool",
      title: 'Agent {"subagent_type":"clarity","prompt":"Read src/total.ts"}',
      text: '{\n  "subagent_type": "clarity"\n}\n→ It is clear.',
      outcome: "completed",
    },
    { thread: "clarity", kind: "user", title: "Read src/total.ts" },
    {
      thread: "clarity",
      kind: "tool",
      title: 'Read {"file_path":"src/total.ts"}',
      text: '{\n  "file_path": "src/total.ts"\n}\n→ export function total(items) {',
      outcome: "completed",
    },
    { thread: "safety", kind: "user", title: "Look for prices that can be negative" },
    { thread: "safety", kind: "message", title: "None is checked.", text: "None is checked.\nI would refuse them." },
    { thread: "clarity", kind: "message", title: "It is clear." },
    { thread: "main", kind: "approval", title: "Bash: npm test", text: "Bash: npm test\nno rule allows it" },
    {
      thread: "main",
      kind: "tool",
      title: 'Bash {"command":"npm test"}',
      text: '{\n  "command": "npm test"\n}\n→ The user denied this.',
      outcome: "denied",
    },
    { thread: "main", kind: "error", title: "The model answered with 529: overloaded." },
    { thread: "main", kind: "limit", title: "tool_calls: 4 of 4" },
    { thread: "main", kind: "message", title: "The total is now computed from price and count." },
    { thread: "main", kind: "note", title: "Idle: budget_reached" },
  ],
  stopReason: "budget_reached",
  changes: `diff --git a/src/total.ts b/src/total.ts\n${DIFF.replace("--- expected", "--- a/src/total.ts").replace("+++ found", "+++ b/src/total.ts")}`,
});

/** A run in which everything happened that can. */
export function richRun(): SuiteRun {
  return sampleRun({
    exitCode: 2,
    durationMs: 74_300,
    problems: ["suites/broken.test.yaml:3:5 cases: is missing. A suite needs at least one case."],
    suites: [
      sampleSuite("refactor", {
        cases: [
          sampleCase("moves a function", { tags: ["smoke", "files"] }),
          sampleCase("counts what is bought more than once", { status: "failed", tags: ["files"], trials: [FAILED] }),
          sampleCase("renames without breaking callers", {
            needed: 0.5,
            passAt: { 1: 2 / 3, 2: 1, 3: 1 },
            passAll: { 1: 2 / 3, 2: 1 / 3, 3: 0 },
            trials: [
              sampleTrial(),
              sampleTrial({ ...FAILED, trial: 2, drifts: [], ignored: [], sessionId: "sesn_0002" }),
              sampleTrial({ trial: 3, usd: null, sessionId: "sesn_0003" }),
            ],
          }),
          sampleCase("survives a killed process", {
            status: "error",
            trials: [
              sampleTrial({
                status: "error",
                sessionId: null,
                stopReason: null,
                text: "",
                verdicts: [],
                steps: [],
                error: "The trial took too long, and was interrupted. Give the case more time (timeout: 10m).",
              }),
            ],
          }),
          sampleCase("writes to the suite's own directory", {
            status: "not_run",
            reason: "it works in the suite's own directory: allow that with --allow-side-effects",
            trials: [],
          }),
        ],
        gates: [
          { gate: "pass_rate", passed: false, message: "50 % of the cases passed; at least 90 % must" },
          { gate: "usd", passed: true, message: "the trials cost $0.2101; at most $1 is allowed" },
        ],
        regressions: [
          {
            what: "usd",
            case: "counts what is bought more than once",
            message: "a trial cost $0.0410 and costs $0.0871 (+112 %)",
          },
          { what: "suite", message: "the pass rate fell from 0.90 to 0.50" },
        ],
      }),
      sampleSuite("answers", {
        agent: "helper",
        cases: [
          sampleCase("answers in one sentence"),
          sampleCase("asks before it deletes", { status: "skipped", reason: "waits for the new inbox", trials: [] }),
        ],
      }),
    ],
  });
}

const NOT_FREE = new Set(["status", "kind", "mode", "startedAt"]);

/** The run with every text in it that may be anything replaced. */
export function withTexts(run: SuiteRun, text: string): SuiteRun {
  const replaced = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return NOT_FREE.has(key) ? value : text;
    if (Array.isArray(value)) return value.map((item) => replaced(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaced(inner, name)]));
  };
  return replaced(run) as SuiteRun;
}
