import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { engineVersions } from "../../app/check/diagnose.ts";
import { openStore } from "../../app/open-store.ts";
import { openTests, type Tests } from "../../app/record/open-tests.ts";
import type { Configuration, Trusting } from "../../config/load.ts";
import { clock, ids } from "../../app/clock.ts";
import { findProject } from "../../config/project/project.ts";
import { type ReadSuite, readSuite } from "../../config/suite/suite-file.ts";
import { findSuites } from "../../config/suite/suite-files.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Suite } from "../../core/suite/suite.ts";
import { type SuiteRun, suiteRun } from "../../core/suite/suite-run.ts";
import { wantedReports, writeReports } from "../../eval/reports/reports.ts";
import { type RunDeps, runSuites } from "../../eval/run.ts";
import { usageError } from "../terminal/failure.ts";
import { testsOptions } from "../target/host.ts";
import { EXIT_INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";
import { TestView } from "./test-view.ts";
import { trustingFor } from "../trust/trust-flags.ts";
import { reportWithheld } from "../trust/trust-view.ts";
import { packageVersion } from "../version.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface TestFlags {
  readonly replay?: boolean;
  readonly record?: boolean;
  readonly live?: boolean;
  readonly rehearsal?: boolean;
  readonly filter?: readonly string[];
  readonly trials?: number;
  readonly parallel: number;
  readonly report?: readonly string[];
  readonly baseline?: string;
  readonly acceptDrift?: boolean;
  readonly allowSideEffects?: boolean;
  readonly trust?: boolean;
  readonly json?: boolean;
  readonly sdk?: string;
  readonly engine?: EngineName;
}

/** Runs suites. Returns the exit code. */
export async function testSuites(paths: readonly string[], flags: TestFlags): Promise<number> {
  const mode = modeOf(flags);
  if (mode === "record" && process.env["CI"])
    throw usageError(
      "Recording is disabled in CI, because a person should review each cassette. Record locally and commit the file.",
    );
  const wanted = wantedReports(flags.report ?? []);
  const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline);
  const { read, problems } = await readSuites(findSuites(paths), await trustingFor(flags, { isAsking: false }), flags);
  for (const { configuration } of read) reportWithheld(configuration);
  const [first] = read;
  if (first === undefined) throw new CapstanError("invalid_suite", problems.join("\n"));
  const view = new TestView({
    isQuiet: flags.json === true,
    isFree: mode === "replay" || flags.rehearsal === true,
    filter: flags.filter ?? [],
  });
  const stop = new AbortController();
  using stopping = interruptOnSignal(async () => stop.abort());
  const { id: project } = findProject(process.cwd(), process.env);
  const request = {
    id: ids.next("run"),
    suites: read.map(({ suite }) => suite),
    directory: process.cwd(),
    filter: flags.filter ?? [],
    trials: flags.trials,
    parallel: flags.parallel,
    allowSideEffects: flags.allowSideEffects ?? false,
    project,
    capstan: packageVersion(),
    problems,
    signal: stop.signal,
  };
  const { sdk } = engineVersions();
  if (flags.sdk !== undefined) {
    if (read.some(({ configuration }) => configuration.project.id !== first.configuration.project.id))
      throw usageError("--sdk works with the suites of one project at a time. Name one project's directory.");
    const { canary } = await import("./test-canary.ts");
    const { configuration } = first;
    const code = await canary(
      { ...request, onStart: view.showStart, onCase: view.clearProgress },
      { sdk: flags.sdk, pinned: sdk, configuration, json: flags.json ?? false },
    );
    return stopping.stopped ? EXIT_INTERRUPTED : code;
  }
  await using tests = await openAll(read, mode, flags);
  const ran = await runSuites(
    {
      ...request,
      mode,
      acceptDrift: flags.acceptDrift ?? false,
      baseline,
      sdk,
      onStart: view.showStart,
      onCase: view.showCase,
    },
    tests,
  );
  const { run: reported, written } = await writeReports(ran, wanted);
  const run = await saveRun(first.configuration, reported);
  view.summary(run, written);
  if (flags.json === true) process.stdout.write(`${hiddenFreeJson(run)}\n`);
  return stopping.stopped ? EXIT_INTERRUPTED : run.exitCode;
}

/** Opens one host per project, because settings, variables and secrets differ. */
async function openAll(
  read: readonly ReadSuite[],
  mode: SuiteRun["mode"],
  { rehearsal }: TestFlags,
): Promise<RunDeps & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const opened = new Map<string, Tests>();
  const bySuite = new Map<Suite, Tests>();
  for (const { suite, configuration } of read) {
    const { id } = configuration.project;
    const options = { ...testsOptions(configuration), rehearsal: rehearsal === true };
    const tests = opened.get(id) ?? stack.use(await openTests(mode, options));
    opened.set(id, tests);
    bySuite.set(suite, tests);
  }
  const testsOf = (suite: Suite): Tests => {
    const tests = bySuite.get(suite);
    if (tests === undefined) throw new Error(`The suite ${suite.name} was not opened.`);
    return tests;
  };
  const all = stack.move();
  return {
    clock,
    trial: (request) => testsOf(request.suite).trial(request),
    keep: (kept) => testsOf(kept.suite).keep(kept),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** If the run cannot be saved, adds a problem to it. */
async function saveRun({ home, environment }: Configuration, run: SuiteRun): Promise<SuiteRun> {
  try {
    await using store = await openStore(home, environment);
    await store.suiteRuns.add(run);
    return run;
  } catch (error) {
    const problem = `Cannot save the run in ${home}: ${messageOf(error)}`;
    return { ...run, problems: [...run.problems, problem], exitCode: run.exitCode || 2 };
  }
}

function modeOf({ record, live, rehearsal }: TestFlags): SuiteRun["mode"] {
  if (record === true) return "record";
  if (live === true) return "live";
  return rehearsal === true ? "rehearsal" : "replay";
}

/** Reads the suites that it can, and collects the problems of the others. */
async function readSuites(
  files: readonly string[],
  trust: Trusting,
  { engine }: Pick<TestFlags, "engine">,
): Promise<{ read: readonly ReadSuite[]; problems: readonly string[] }> {
  const read: ReadSuite[] = [];
  const problems: string[] = [];
  for (const file of files)
    try {
      const one = await readSuite(file, process.env, trust, { engine });
      const { name } = one.suite;
      const same = read.find(({ suite }) => suite.name === name);
      // Reports, baselines and saved runs identify a suite by name.
      if (same === undefined) read.push(one);
      else problems.push(`${file} and ${same.suite.file} are both named ${name}. Rename one of them (suite: …).`);
    } catch (error) {
      if (!(error instanceof CapstanError)) throw error;
      problems.push(withFile(file, error.message));
    }
  return { read, problems };
}

/** Adds the suite's file name to a problem that names only the agent's file. */
function withFile(file: string, problem: string): string {
  return problem.includes(file) || problem.includes(resolve(file)) ? problem : `${file} was not run: ${problem}`;
}

function readBaseline(file: string): SuiteRun {
  const remedy = "Create one: capstan test --report json";
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(resolve(file), "utf8"));
  } catch (error) {
    throw new CapstanError("invalid_input", `Cannot read the baseline ${file}: ${(error as Error).message}. ${remedy}`);
  }
  const parsed = suiteRun.safeParse(value);
  if (!parsed.success) throw new CapstanError("invalid_input", `${file} is not a JSON report of a run. ${remedy}`);
  return parsed.data;
}
