import type { CasesSummary, RunSummary } from "../suite/suite-run-summary.ts";
import type { SuiteResult, SuiteRun } from "../suite/suite-run.ts";

/** Of each suite of a project so many runs are kept, the newest ones. */
export const MAX_RUNS = 200;

/** A run as lists show it. */
export interface StoredRun extends RunSummary, Pick<SuiteRun, "id" | "mode" | "exitCode"> {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A suite with what came of it the last time. Within a project suites are told apart by their names. */
export interface StoredSuite extends Pick<SuiteResult, "suite" | "file" | "agent"> {
  readonly lastRun: StoredRun;
  /** Of this suite alone, in that run. */
  readonly summary: CasesSummary;
}

/**
 * Runs of suites. Each belongs to one project, and a query always names it: what is another project's is not there.
 * Times are those that the runs themselves tell.
 */
export interface SuiteRunStore {
  /**
   * Rejects with `store_conflict` when there is one with this id. A run goes when it is none of the newest `MAX_RUNS`
   * of any of its suites.
   */
  add(run: SuiteRun): Promise<void>;
  get(project: string, id: string): Promise<SuiteRun | undefined>;
  /** Newest first. `suite`: only runs of the one with this name; `after`: only what comes after the run with this id. */
  list(project: string, query: SuiteRunQuery): Promise<readonly StoredRun[]>;
  /** In the order of their names. */
  suites(project: string): Promise<readonly StoredSuite[]>;
  /**
   * With all that was said in it. Its id is not given to another one, so that a page can still begin after it. Resolves to
   * false when there is none.
   */
  delete(project: string, id: string): Promise<boolean>;
}

export interface SuiteRunQuery {
  readonly limit: number;
  readonly suite?: string | undefined;
  readonly after?: string | undefined;
}
