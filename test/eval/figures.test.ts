import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Case, Suite } from "../../src/core/suite/suite.ts";
import type { CaseRun, SuiteResult, SuiteRun, TrialRun } from "../../src/core/suite/suite-run.ts";
import { regressionsOf } from "../../src/eval/compare/baseline.ts";
import { caseRun } from "../../src/eval/case-run.ts";
import { failedTrial } from "../../src/eval/trial/failed-trial.ts";
import { gatesOf } from "../../src/eval/gates.ts";
import { passAtK } from "../../src/eval/pass-at-k.ts";
import { exitCodeOf } from "../../src/eval/run.ts";
import { select } from "../../src/eval/select.ts";

const aCase = (more: Partial<Case> = {}): Case => ({
  name: "one",
  place: "a.test.yaml:3",
  tags: [],
  engine: "claude",
  trials: 1,
  passRate: 1,
  timeoutMs: 1,
  workspace: "trial",
  fixture: undefined,
  files: {},
  git: false,
  turns: [],
  answers: [],
  inputs: {},
  variables: {},
  graders: [],
  faults: [],
  ignore: [],
  only: false,
  skip: undefined,
  ...more,
});
const trial = (status: TrialRun["status"], more: Partial<TrialRun> = {}): TrialRun => {
  const { error: _, ...rest } = failedTrial(1, "");
  return { ...rest, status, usd: 0.01, durationMs: 1000, ...more };
};
const ran = (name: string, ...trials: TrialRun[]): CaseRun => caseRun(aCase({ name }), trials);
const suiteWith = (more: Partial<Suite>): Suite => ({ cases: [], gates: {}, margins: {}, ...more }) as unknown as Suite;

describe("pass@k and pass^k", () => {
  test.each([
    [4, 2, [0.5, 5 / 6, 1, 1], [0.5, 1 / 6, 0, 0]],
    [3, 3, [1, 1, 1], [1, 1, 1]],
    [3, 0, [0, 0, 0], [0, 0, 0]],
    [1, 1, [1], [1]],
  ])("of %i trials %i passed", (trials, passed, any, all) => {
    const found = passAtK(trials, passed);
    found.any.forEach((value, index) => expect(value).toBeCloseTo(any[index] ?? NaN, 12));
    found.all.forEach((value, index) => expect(value).toBeCloseTo(all[index] ?? NaN, 12));
  });

  test("are what counting every choice of k trials gives", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), (outcomes) => {
        const { any, all } = passAtK(outcomes.length, outcomes.filter(Boolean).length);
        for (let k = 1; k <= outcomes.length; k += 1) {
          const choices = subsets(outcomes, k);
          expect(any[k - 1]).toBeCloseTo(choices.filter((one) => one.includes(true)).length / choices.length, 9);
          expect(all[k - 1]).toBeCloseTo(choices.filter((one) => !one.includes(false)).length / choices.length, 9);
        }
      }),
    );
  });
});

function subsets<Value>(values: readonly Value[], size: number): Value[][] {
  if (size === 0) return [[]];
  return values.flatMap((value, index) => subsets(values.slice(index + 1), size - 1).map((rest) => [value, ...rest]));
}

test.each<[string, Partial<Case>, TrialRun["status"][], CaseRun["status"]]>([
  ["every trial passed", {}, ["passed", "passed"], "passed"],
  ["one failed", {}, ["passed", "failed"], "failed"],
  ["as many passed as must", { passRate: 0.5 }, ["passed", "failed"], "passed"],
  ["one could not be carried out", {}, ["passed", "error"], "error"],
  ["enough passed although one could not be carried out", { passRate: 0.5 }, ["passed", "error"], "passed"],
])("a case of which %s", (_what, more, statuses, status) => {
  expect(
    caseRun(
      aCase(more),
      statuses.map((one) => trial(one)),
    ).status,
  ).toBe(status);
});

describe("the cases that are run", () => {
  const suites = [
    suiteWith({
      cases: [aCase({ name: "Reads a file", tags: ["smoke"] }), aCase({ name: "Writes", skip: "not yet" })],
    }),
    suiteWith({ cases: [aCase({ name: "Lists" })] }),
  ];
  const names = (filter: string[], of = suites): string[] =>
    select(of, { filter, trials: undefined }).flatMap(({ case: one, left }) => (left === undefined ? [one.name] : []));

  test("are those that nothing speaks against", () => expect(names([])).toEqual(["Reads a file", "Lists"]));
  test("are those with a word in the name, whatever its case", () => expect(names(["READ"])).toEqual(["Reads a file"]));
  test("are those with a tag", () => expect(names(["#smoke"])).toEqual(["Reads a file"]));
  test("are those with one of several", () => expect(names(["#smoke", "lists"])).toEqual(["Reads a file", "Lists"]));
  test("are those that say only, in all suites together", () =>
    expect(names([], [...suites, suiteWith({ cases: [aCase({ name: "This one", only: true })] })])).toEqual([
      "This one",
    ]));
  test("that are left out say why", () =>
    expect(select(suites, { filter: ["x"], trials: undefined }).map(({ left }) => left)).toEqual([
      "--filter x",
      "not yet",
      "--filter x",
    ]));
});

test("gates look at the whole suite", () => {
  const cases = [ran("one", trial("passed")), ran("two", trial("failed", { usd: 0.03, judgeUsd: 0.01 }))];
  const suite = suiteWith({ gates: { pass_rate: 0.6, usd: 0.04, durationMs: 2000 } });
  expect(gatesOf(suite, cases)).toEqual([
    { gate: "pass_rate", passed: false, message: "50% of the cases passed; at least 60% must" },
    { gate: "usd", passed: false, message: "the trials cost $0.05; at most $0.04 is allowed" },
    { gate: "duration", passed: true, message: "the trials took 2 s in total; at most 2 s is allowed" },
  ]);
});

test("a gate says what it cannot know", () => {
  const cases = [ran("one", trial("passed", { usd: null })), ran("two", trial("passed"))];
  expect(gatesOf(suiteWith({ gates: { usd: 1 } }), cases)).toEqual([
    {
      gate: "usd",
      passed: false,
      message:
        "the cost of 1 of 2 trials is unknown, because a model has no known price. Add it to prices in the settings; at most $1.00 is allowed, and the known cost is $0.01",
    },
  ]);
});

test("a gate of cost is met to the cent", () => {
  const cases = [ran("one", trial("passed", { usd: 0.1 })), ran("two", trial("passed", { usd: 0.2 }))];
  expect(gatesOf(suiteWith({ gates: { usd: 0.3 } }), cases)).toMatchObject([{ passed: true }]);
});

const passing = (count: number): CaseRun =>
  ran("one", ...Array.from({ length: 10 }, (_, index) => trial(index < count ? "passed" : "failed")));

describe("compared with a baseline", () => {
  const before = { suites: [{ suite: "s", cases: [ran("one", trial("passed"))] }] } as unknown as SuiteRun;
  const worse = (now: CaseRun[], margins = {}, mode: SuiteRun["mode"] = "live"): string[] =>
    regressionsOf({ suite: "s", cases: now }, before, { margins, mode }).map(({ what }) => what);

  test("the same is no worse", () => expect(worse([ran("one", trial("passed"))])).toEqual([]));
  test("fewer trials that pass are", () => expect(worse([ran("one", trial("failed"))])).toEqual(["pass_rate"]));
  test("as much less as the margin allows is not", () => {
    const eight = { suites: [{ suite: "s", cases: [passing(8)] }] } as unknown as SuiteRun;
    const found = (count: number): string[] =>
      regressionsOf({ suite: "s", cases: [passing(count)] }, eight, { margins: { pass_rate: 0.1 }, mode: "live" }).map(
        ({ what }) => what,
      );
    expect([found(7), found(6)]).toEqual([[], ["pass_rate"]]);
  });
  test("more cost is, beyond the margin", () => {
    const now = [ran("one", trial("passed", { usd: 0.0115 }))];
    expect(worse(now)).toEqual(["usd"]);
    expect(worse(now, { usd: 0.2 })).toEqual([]);
  });
  test("more time is, beyond the margin", () =>
    expect(worse([ran("one", trial("passed", { durationMs: 2600 }))])).toEqual(["duration"]));
  test("more time is not when no model was asked, unless the suite says by how much", () => {
    const now = [ran("one", trial("passed", { durationMs: 9000 }))];
    expect(worse(now, {}, "replay")).toEqual([]);
    expect(worse(now, { duration: 1 }, "replay")).toEqual(["duration"]);
  });
  test("a case that is gone is", () => expect(worse([ran("two", trial("passed"))])).toEqual(["case"]));
  test("a suite that the baseline does not have is not", () =>
    expect(
      regressionsOf({ suite: "new", cases: [ran("one", trial("failed"))] }, before, { margins: {}, mode: "live" }),
    ).toEqual([]));
});

const suite = (more: Partial<SuiteResult>): SuiteResult =>
  ({ cases: [], gates: [], regressions: [], ...more }) as unknown as SuiteResult;

const code = (more: Partial<SuiteResult>, problems: string[] = []): number => exitCodeOf([suite(more)], problems);

describe("the exit code", () => {
  test("is 0 when everything passed", () => expect(code({ cases: [ran("one", trial("passed"))] })).toBe(0));
  test("is 1 for a failure", () => expect(code({ cases: [ran("one", trial("failed"))] })).toBe(1));
  test("is 1 for a gate and for a regression", () => {
    expect(code({ gates: [{ gate: "usd", passed: false, message: "" }] })).toBe(1);
    expect(code({ regressions: [{ what: "usd", message: "" }] })).toBe(1);
  });
  test("is 3 for what could not be carried out", () => expect(code({ cases: [ran("one", trial("error"))] })).toBe(3));
  test("is 2 for what is set up wrongly", () => expect(code({}, ["a suite cannot be read"])).toBe(2));
});
