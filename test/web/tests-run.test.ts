import { expect, test } from "vitest";
import { filterSuites, firstOpen, listedCount, placeSuites, remarksOf } from "../../web/src/tests/placed-cases.ts";
import { countsText, isGood, passedOf, priceOf, whyNot } from "../../web/src/tests/run-facts.ts";
import { casesSummary, passagesOf, priceNote } from "../../src/protocol/api/suite-run-facts.ts";
import { richRun, sampleCase, sampleSuite } from "../support/suite-run.ts";

const run = richRun();
const suites = placeSuites(run.suites);

test("what a run comes to is told in words", () => {
  const sums = casesSummary(run.suites.flatMap((suite) => suite.cases));
  expect(countsText(sums.counts)).toBe("3 passed, 1 failed, 1 error, 1 not run, 1 skipped");
  expect(isGood(sums.counts)).toBe(false);
  expect(priceOf(sums)).toMatch(/^≥ \$/);
  expect(priceNote({ mode: "replay" }, { unpricedTrials: 1 })).toBe("list price, not billed; 1 trial of unknown price");
});

function names(wanted: Parameters<typeof filterSuites>[1]): string[] {
  return filterSuites(suites, wanted).flatMap(({ cases }) => cases.map((one) => one.anchor));
}

test("cases are found by what became of them, by name and by tag", () => {
  expect(names({ onlyBad: false, text: "" })).toHaveLength(7);
  expect(names({ onlyBad: true, text: "" })).toEqual(["case-1-2", "case-1-4", "case-1-5"]);
  expect(names({ onlyBad: false, text: " FILES " })).toEqual(["case-1-1", "case-1-2"]);
  expect(names({ onlyBad: true, text: "moves" })).toEqual([]);
});

test("what failed stands open, unless that is too much", () => {
  expect(firstOpen(suites)).toEqual(["case-1-2", "case-1-4"]);
  const many = placeSuites([
    sampleSuite("s", { cases: Array.from({ length: 6 }, () => sampleCase("x", { status: "failed" })) }),
  ]);
  expect(firstOpen(many)).toEqual([]);
});

test("a long list is shown in pages, and the case that is asked for is on one of them", () => {
  const [suite] = placeSuites([sampleSuite("s", { cases: Array.from({ length: 250 }, () => sampleCase("x")) })]);
  const cases = suite?.cases ?? [];
  expect(listedCount(cases, 1, undefined)).toBe(100);
  expect(listedCount(cases, 1, "case-1-150")).toBe(200);
  expect(listedCount(cases, 3, undefined)).toBe(250);
});

test("problems, missed gates and regressions lead to where they belong", () => {
  expect(remarksOf(run.problems, suites).map(({ kind, anchor }) => [kind, anchor])).toEqual([
    ["problem", undefined],
    ["gate", "suite-1"],
    ["baseline", "case-1-2"],
    ["baseline", "suite-1"],
  ]);
});

test("why a case did not pass is told in one line", () => {
  const [moved, counts, renames, killed, writes] = suites[0]?.cases.map((one) => one.case) ?? [];
  if (!moved || !counts || !renames || !killed || !writes) throw new Error("The sample has five cases.");
  expect(whyNot(counts)).toBe("file src/total.ts: Expected the content of the file as given; found another.");
  expect(whyNot(killed)).toMatch(/^The trial took too long/);
  expect(whyNot(writes)).toMatch(/allow-side-effects$/);
  expect(passedOf(renames)).toBe("2 of 3 trials (50% needed)");
});

test("what subagents did side by side stands in passages", () => {
  const steps = suites[0]?.cases[1]?.case.trials[0]?.steps ?? [];
  expect(passagesOf(steps).map(({ thread }) => thread)).toEqual(["main", "clarity", "safety", "clarity", "main"]);
});
