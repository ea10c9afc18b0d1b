/**
 * What a run on the wire comes to, and in which words: the console counts and speaks as the reports do. Apart from the schemas of
 * suites, which a browser need not load.
 */

export { CASE_STATUSES, type CasesSummary, casesSummary, type CaseStatus } from "../../core/suite/suite-run-summary.ts";
export * from "../../core/suite/suite-run-words.ts";
