import type { SuiteRun } from "../../core/suite-run.ts";

/** The whole run. `--baseline` reads it. */
export function jsonReport(run: SuiteRun): string {
  return `${JSON.stringify(run, null, 2)}\n`;
}
