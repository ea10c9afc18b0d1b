import type { CasesSummary, RunSummary } from "../suite/suite-run-summary.ts";
import type { SuiteResult, SuiteRun } from "../suite/suite-run.ts";

/** How many of the newest runs are kept for each suite of a project. */
export const MAX_RUNS = 200;

/** A run in lists. */
export interface StoredRun extends RunSummary, Pick<SuiteRun, "id" | "mode" | "exitCode"> {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A suite with its latest result. Within a project, suites are identified by name. */
export interface StoredSuite extends Pick<SuiteResult, "suite" | "file" | "agent"> {
  readonly lastRun: StoredRun;
  /** Of this suite alone, in that run. */
  readonly summary: CasesSummary;
}

/**
 * Runs of suites. Each belongs to one project, which every query names: runs of other projects are invisible. Times
 * come from the runs themselves.
 */
export interface SuiteRunStore {
  /**
   * Rejects with `store_conflict` if the id exists. A run is removed when it is no longer among the newest `MAX_RUNS`
   * of any of its suites.
   */
  add(run: SuiteRun): Promise<void>;
  get(project: string, id: string): Promise<SuiteRun | undefined>;
  /** Newest first. `suite`: only runs of the suite with this name; `after`: only runs after the one with this id. */
  list(project: string, query: SuiteRunQuery): Promise<readonly StoredRun[]>;
  /** Sorted by name. */
  suites(project: string): Promise<readonly StoredSuite[]>;
  /**
   * Includes its transcripts. Its id is not reused, so that a page can still start after it. Resolves to false if it
   * does not exist.
   */
  delete(project: string, id: string): Promise<boolean>;
}

export interface SuiteRunQuery {
  readonly limit: number;
  readonly suite?: string | undefined;
  readonly after?: string | undefined;
}
