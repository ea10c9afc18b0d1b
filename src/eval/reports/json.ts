import type { SuiteRun } from "../../core/suite/suite-run.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

/** The complete run. `--baseline` reads it. */
export function jsonReport(run: SuiteRun): string {
  return `${hiddenFreeJson(run, 2)}\n`;
}
