import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Cassette } from "../core/suite/cassette.ts";
import type { Clock } from "../core/ports/clock.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { Case, Suite } from "../core/suite/suite.ts";
import {
  type CaseRun,
  SUITE_RUN_FORMAT,
  type SuiteResult,
  type SuiteRun,
  type TrialRun,
} from "../core/suite/suite-run.ts";
import { regressionsOf } from "./compare/baseline.ts";
import { caseRun, leftOut } from "./case-run.ts";
import { cassettePath, readCassette } from "./compare/cassette-files.ts";
import { failedTrial } from "./trial/failed-trial.ts";
import { gatesOf } from "./gates.ts";
import type { KeepCassette } from "./compare/keep-cassette.ts";
import { select, type Selection } from "./select.ts";
import type { TrialOutcome, TrialRequest } from "./trial/trial.ts";

export interface RunRequest extends Selection {
  readonly id: string;
  readonly suites: readonly Suite[];
  readonly mode: SuiteRun["mode"];
  /** Where the run was started: the base for paths of files. */
  readonly directory: string;
  readonly parallel: number;
  readonly acceptDrift: boolean;
  readonly allowSideEffects: boolean;
  readonly baseline: SuiteRun | undefined;
  readonly project: string;
  readonly capstan: string;
  readonly sdk: string;
  /** Problems found before anything ran, such as a suite that could not be read. */
  readonly problems: readonly string[];
  readonly signal: AbortSignal;
  readonly onStart: (suite: Suite, one: Case) => void;
  readonly onCase: (suite: Suite, run: CaseRun) => void;
}

export interface RunDeps {
  readonly trial: (request: TrialRequest) => Promise<TrialOutcome>;
  readonly keep: KeepCassette;
  readonly clock: Clock;
}

/** Runs the selected cases, some at a time, and combines the results. */
export async function runSuites(request: RunRequest, deps: RunDeps): Promise<SuiteRun> {
  const started = deps.clock.now();
  const selected = select(request.suites, request);
  const results = new Map<Case, CaseRun>();
  const finish = (suite: Suite, one: Case, run: CaseRun): void => {
    results.set(one, run);
    request.onCase(suite, run);
  };
  const jobs: (() => Promise<void>)[] = [];
  const here: (() => Promise<void>)[] = [];
  for (const { suite, case: one, left } of selected) {
    if (left !== undefined) finish(suite, one, leftOut(one, "skipped", left));
    else if (one.workspace === "here" && !request.allowSideEffects) finish(suite, one, leftOut(one, "not_run", HERE));
    else (one.workspace === "here" ? here : jobs).push(...jobsOf(suite, one, { request, deps, finish }));
  }
  await inParallel(jobs, request.parallel);
  // They share a directory.
  await inParallel(here, 1);
  const problems = [...request.problems, ...nothingRan(request, jobs.length + here.length), ...unlike(request)];
  const suites = request.suites.map((suite): SuiteResult => {
    const cases = selected.filter((one) => one.suite === suite).flatMap((one) => results.get(one.case) ?? []);
    const regressions =
      request.baseline === undefined
        ? []
        : regressionsOf({ suite: suite.name, cases }, request.baseline, { margins: suite.margins, mode: request.mode });
    const gates = gatesOf(suite, cases);
    return {
      suite: suite.name,
      file: relative(request.directory, suite.file),
      agent: suite.agent.name,
      agentHash: suite.agentHash,
      cases,
      gates,
      regressions,
    };
  });
  return {
    format: SUITE_RUN_FORMAT,
    id: request.id,
    project: request.project,
    mode: request.mode,
    startedAt: new Date(started).toISOString(),
    durationMs: deps.clock.now() - started,
    capstan: request.capstan,
    sdk: request.sdk,
    exitCode: exitCodeOf(suites, problems),
    suites,
    problems,
  };
}

/** A filter without matches must not look like a passing run. */
function nothingRan({ filter, suites }: RunRequest, jobs: number): string[] {
  if (filter.length === 0 || jobs > 0) return [];
  const names = suites.flatMap(({ cases }) => cases.map(({ name }) => name));
  return [`--filter ${filter.join(" ")} matches no case to run. The cases are: ${names.join(", ")}`];
}

const AGAIN = "If that is intended, create a new baseline: capstan test --report json=FILE";

/**
 * Reports a baseline of other suites, or of suites that no longer exist. Existing suites that were not named are left
 * out on purpose.
 */
function unlike({ baseline, suites, directory }: RunRequest): string[] {
  const gone = (baseline?.suites ?? []).filter(({ suite }) => !suites.some(({ name }) => name === suite));
  if (baseline !== undefined && gone.length === baseline.suites.length)
    return [
      `No suite of this run is in the baseline, which has: ${gone.map(({ suite }) => suite).join(", ")}. ${AGAIN}`,
    ];
  return gone
    .filter(({ file }) => !existsSync(resolve(directory, file)))
    .map(({ suite, file }) => `The suite ${suite} is in the baseline, but ${file} no longer exists. ${AGAIN}`);
}

const HERE =
  "it works in the suite's own directory and changes files there; allow that with --allow-side-effects, or use workspace: trial";

interface Around {
  readonly request: RunRequest;
  readonly deps: RunDeps;
  readonly finish: (suite: Suite, one: Case, run: CaseRun) => void;
}

/** One job for each trial; the last one to end completes the case. */
function jobsOf(suite: Suite, one: Case, { request, deps, finish }: Around): (() => Promise<void>)[] {
  const trials: TrialRun[] = [];
  let open = one.trials;
  return Array.from({ length: one.trials }, (_, index) => async () => {
    const trial = index + 1;
    if (!request.signal.aborted) {
      if (trials.length === 0) request.onStart(suite, one);
      trials.push(await oneTrial({ suite, case: one, trial }, request, deps));
    }
    open -= 1;
    if (open > 0) return;
    const inOrder = trials.toSorted((a, b) => a.trial - b.trial);
    finish(
      suite,
      one,
      inOrder.length < one.trials
        ? // Report what was spent in any case.
          { ...leftOut(one, "not_run", `the run was stopped${after(inOrder, one)}`), trials: inOrder }
        : caseRun(one, inOrder),
    );
  });
}

function after({ length }: readonly TrialRun[], { trials }: Case): string {
  return length === 0 ? "" : ` after ${length} of ${trials} trials`;
}

async function oneTrial(
  { suite, case: one, trial }: Pick<TrialRequest, "suite" | "case" | "trial">,
  { mode, acceptDrift, project, signal, capstan, sdk }: RunRequest,
  { trial: carryOut, keep }: RunDeps,
): Promise<TrialRun> {
  const path = cassettePath(suite, one, trial);
  let cassette: Cassette | undefined;
  try {
    if (mode === "replay" || mode === "record")
      cassette = requireOwn(await readCassette(path), { suite, case: one, trial, path });
  } catch (error) {
    return failedTrial(trial, messageOf(error));
  }
  if (mode === "replay" && cassette === undefined)
    return failedTrial(
      trial,
      `The cassette ${path} does not exist. Record it with capstan test --record, which needs a credential and does not work in CI. To try it without a credential, use --record --rehearsal`,
    );
  const record = mode === "record" && cassette === undefined;
  const { run, recorded } = await carryOut({ suite, case: one, trial, project, cassette, acceptDrift, record, signal });
  if (recorded === undefined) return record ? markUnrecorded(run) : run;
  try {
    await keep({ path, suite, case: one, trial, recorded, capstan, sdk });
    return run;
  } catch (error) {
    return { ...run, status: "error", error: messageOf(error) };
  }
}

/** Reports that no cassette was written. */
function markUnrecorded(run: TrialRun): TrialRun {
  const message =
    "Nothing was recorded: the conversation did not reach its end. Fix the cause, and record the case again.";
  return run.error === undefined
    ? { ...run, verdicts: [...run.verdicts, { grader: "cassette", passed: false, score: 0, message }] }
    : { ...run, error: `${run.error}\n${message}` };
}

/** A copied or renamed cassette would answer for another case. */
function requireOwn(
  read: Cassette | undefined,
  { suite, case: one, trial, path }: Pick<TrialRequest, "suite" | "case" | "trial"> & { readonly path: string },
): Cassette | undefined {
  if (read === undefined || (read.suite === suite.name && read.case === one.name && read.trial === trial)) return read;
  throw new CapstanError(
    "invalid_cassette",
    `The cassette ${path} was recorded for trial ${read.trial} of "${read.case}" in the suite ${read.suite}. Delete it and record the case again: capstan test --record`,
  );
}

/** 2: a configuration error; 3: something could not run or be graded; 1: a test failed. */
export function exitCodeOf(suites: readonly SuiteResult[], problems: readonly string[]): number {
  const cases = suites.flatMap((suite) => suite.cases);
  if (problems.length > 0 || cases.some(({ status }) => status === "not_run")) return 2;
  if (cases.some(({ status }) => status === "error")) return 3;
  const isWorse = suites.some(
    ({ gates, regressions }) => regressions.length > 0 || gates.some(({ passed }) => !passed),
  );
  return isWorse || cases.some(({ status }) => status === "failed") ? 1 : 0;
}

async function inParallel(jobs: readonly (() => Promise<void>)[], parallel: number): Promise<void> {
  const left = jobs.values();
  const worker = async (): Promise<void> => {
    for (const job of left) await job();
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
