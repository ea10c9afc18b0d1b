/**
 * Totals and texts of a run, so that the console matches the reports. Separate from the suites' schemas, which a
 * browser need not load.
 */

export { CASE_STATUSES, type CasesSummary, casesSummary, type CaseStatus } from "../../core/suite/suite-run-summary.ts";
export * from "../../core/suite/suite-run-words.ts";
