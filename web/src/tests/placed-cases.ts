import type { CaseRun, SuiteResult } from "./run-facts.ts";

export interface PlacedCase {
  /** The anchor in the URL and in the HTML report, because names may be arbitrary and repeated. */
  readonly anchor: string;
  readonly case: CaseRun;
}

export interface PlacedSuite {
  readonly anchor: string;
  readonly suite: SuiteResult;
  readonly cases: readonly PlacedCase[];
}

export function placeSuites(suites: readonly SuiteResult[]): PlacedSuite[] {
  return suites.map((suite, index) => ({
    anchor: `suite-${index + 1}`,
    suite,
    cases: suite.cases.map((one, place) => ({ anchor: `case-${index + 1}-${place + 1}`, case: one })),
  }));
}

export function didNotPass({ status }: CaseRun): boolean {
  return status === "failed" || status === "error" || status === "not_run";
}

export interface Wanted {
  readonly onlyBad: boolean;
  readonly text: string;
}

/** The suites with matching cases; suites without any are left out while a filter is active. */
export function filterSuites(suites: readonly PlacedSuite[], { onlyBad, text }: Wanted): PlacedSuite[] {
  const words = text.trim().toLowerCase();
  if (!onlyBad && words === "") return [...suites];
  return suites
    .map((one) => ({
      ...one,
      cases: one.cases.filter(
        ({ case: one }) =>
          (!onlyBad || didNotPass(one)) && [one.case, ...one.tags].some((said) => said.toLowerCase().includes(words)),
      ),
    }))
    .filter(({ cases }) => cases.length > 0);
}

/** Up to this many failed cases start open. */
const MAX_OPEN = 5;

/** The cases that start open. */
export function firstOpen(suites: readonly PlacedSuite[]): string[] {
  const failed = suites
    .flatMap(({ cases }) => cases)
    .filter(({ case: { status } }) => status === "failed" || status === "error");
  return failed.length > MAX_OPEN ? [] : failed.map(({ anchor }) => anchor);
}

/** Cases of a suite per page. */
const PAGE = 100;

/** How many cases to list, so that the linked one is among them. */
export function listedCount(cases: readonly PlacedCase[], pages: number, wanted: string | undefined): number {
  const at = cases.findIndex(({ anchor }) => anchor === wanted);
  return Math.min(cases.length, Math.max(pages * PAGE, Math.ceil((at + 1) / PAGE) * PAGE));
}

export interface Remark {
  readonly kind: "problem" | "gate" | "baseline";
  readonly about: string;
  readonly message: string;
  /** Its anchor on the page; problems belong to the whole run. */
  readonly anchor?: string;
}

/** What needs attention besides failed cases. */
export function remarksOf(problems: readonly string[], suites: readonly PlacedSuite[]): Remark[] {
  return [
    ...problems.map((message): Remark => ({ kind: "problem", about: "", message })),
    ...suites.flatMap(({ anchor, suite, cases }) => [
      ...suite.gates
        .filter(({ passed }) => !passed)
        .map(({ gate, message }): Remark => ({ kind: "gate", about: `${suite.suite}, ${gate}`, message, anchor })),
      ...suite.regressions.map(({ case: name, message }): Remark => {
        const at = cases.find((one) => one.case.case === name);
        return { kind: "baseline", about: name ?? suite.suite, message, anchor: at?.anchor ?? anchor };
      }),
    ]),
  ];
}
