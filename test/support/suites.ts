import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openTests } from "../../src/app/record/open-tests.ts";
import { readSuite } from "../../src/config/suite/suite-file.ts";
import type { Engines } from "../../src/core/ports/engine.ts";
import type { EngineName } from "../../src/core/agent/engine-name.ts";
import type { Suite } from "../../src/core/suite/suite.ts";
import type { SuiteRun } from "../../src/core/suite/suite-run.ts";
import { type RunRequest, runSuites } from "../../src/eval/run.ts";
import type { TrialFacts } from "../../src/eval/trial/trial-facts.ts";
import { testEnvironment } from "./host.ts";
import { EVERYTHING } from "./trust.ts";
import { TEST_ENGINE } from "./test-engine.ts";

/** Writes files below a directory. */
export function writeTree(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

export interface TestRun {
  readonly run: SuiteRun;
  readonly facts: readonly TrialFacts[];
}

interface Around {
  readonly home: string;
  /** Default: those that Capstan comes with. */
  readonly engines?: Pick<Engines, "load">;
  /** As `--engine`. Default: that of the test run. */
  readonly engine?: EngineName;
  /** As the user's own settings say. */
  readonly gradersOutsideSandbox?: boolean;
}

/** Runs one suite file as `capstan test` does. */
export async function runSuiteFile(
  file: string,
  mode: SuiteRun["mode"],
  {
    modelUrl = "http://127.0.0.1:9",
    home,
    engine = TEST_ENGINE,
    ...more
  }: { modelUrl?: string } & Around & Partial<RunRequest>,
): Promise<TestRun> {
  const environment = { ...testEnvironment(modelUrl), HOME: home };
  const { suite } = await readSuite(file, environment, EVERYTHING, { engine });
  return runSuite(suite, mode, { modelUrl, home, ...more });
}

async function runSuite(
  suite: Suite,
  mode: SuiteRun["mode"],
  { modelUrl, home, engines, gradersOutsideSandbox, ...more }: { modelUrl: string } & Around & Partial<RunRequest>,
): Promise<TestRun> {
  await using tests = await openTests(mode, {
    home: join(home, ".capstan"),
    environment: testEnvironment(modelUrl),
    retries: 2,
    rehearsal: mode === "rehearsal",
    engines,
    ...(gradersOutsideSandbox !== undefined && { gradersOutsideSandbox }),
  });
  const facts: TrialFacts[] = [];
  const run = await runSuites(
    {
      id: "run_test",
      suites: [suite],
      directory: "/",
      mode,
      filter: [],
      trials: undefined,
      parallel: 2,
      acceptDrift: false,
      allowSideEffects: false,
      baseline: undefined,
      project: "default",
      capstan: "0.0.0",
      sdk: "0.0.0",
      problems: [],
      signal: new AbortController().signal,
      onStart: () => {},
      onCase: () => {},
      ...more,
    },
    {
      ...tests,
      trial: async (request) => {
        const outcome = await tests.trial(request);
        if (outcome.facts !== undefined) facts.push(outcome.facts);
        return outcome;
      },
    },
  );
  return { run, facts };
}
