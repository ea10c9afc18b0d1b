import type { Case, Suite } from "../../core/suite/suite.ts";
import type { CaseRun, SuiteRun, TrialRun } from "../../core/suite/suite-run.ts";
import { CASE_STATUSES, casesSummary, runSummary } from "../../core/suite/suite-run-summary.ts";
import { acceptedDrift, ignoredVariation } from "../../eval/reports/words.ts";
import { filteredOut } from "../../eval/select.ts";
import { colour, columns, duration, money, oneLine } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Part of a line: plain, or painted. */
type Part = string | readonly [paint: (text: string) => string, text: string];

const MARKS: Readonly<Record<CaseRun["status"], Part>> = {
  passed: [colour.green, "✓"],
  failed: [colour.red, "✗"],
  error: [colour.red, "!"],
  skipped: [colour.dim, "-"],
  not_run: [colour.yellow, "!"],
};
/** The end of what happened is what explains a failure. */
const SHOWN_STEPS = 12;
const SHOWN_DIFF_LINES = 40;

/** A run of suites as a person follows it: one line for each case, and why those failed that did. */
export class TestView {
  readonly #isQuiet: boolean;
  /** Nobody pays for it. */
  readonly #isFree: boolean;
  /** The reason that `--filter` gives; nobody wants to read of what they left out themselves. */
  readonly #filtered: string;
  #leftOut = 0;

  constructor(options: { readonly isQuiet: boolean; readonly isFree: boolean; readonly filter: readonly string[] }) {
    this.#isQuiet = options.isQuiet;
    this.#isFree = options.isFree;
    this.#filtered = filteredOut(options.filter);
  }

  readonly started = (suite: Suite, one: Case): void => {
    if (!this.#isQuiet && process.stderr.isTTY)
      process.stderr.write(
        `\r\u001B[K${colour.dim(oneLine(`… ${suite.name}: ${one.name}`, columns(process.stderr) - 1))}`,
      );
  };

  /** Nothing is told of it yet. */
  readonly forget = (): void => {
    if (!this.#isQuiet && process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  };

  readonly ended = (suite: Suite, run: CaseRun): void => {
    if (this.#isQuiet) return;
    if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
    if (run.status === "skipped" && run.reason === this.#filtered) {
      this.#leftOut += 1;
      return;
    }
    this.#line(MARKS[run.status], ` ${suite.name}: ${run.case}`, [colour.dim, figures(run)]);
    if (run.status === "skipped" || run.status === "not_run") {
      const what = run.status === "skipped" ? "skipped" : "not run";
      return this.#indented([colour.dim, `${what}: ${run.reason ?? ""}`]);
    }
    for (const trial of run.trials.filter(({ status }) => status !== "passed").slice(0, 1)) this.#failure(run, trial);
    const drift = acceptedDrift(run.trials);
    if (drift !== undefined) this.#indented([colour.yellow, drift]);
    const ignored = ignoredVariation(run.trials);
    if (ignored !== undefined) this.#indented([colour.dim, ignored]);
  };

  summary(run: SuiteRun, written: readonly string[]): void {
    if (this.#isQuiet) return;
    const { suites, mode, problems, exitCode } = run;
    const { counts, usd, durationMs } = runSummary(run);
    const shown = { ...counts, skipped: counts.skipped - this.#leftOut };
    const parts = CASE_STATUSES.filter((status) => shown[status] > 0).map(
      (status) => `${shown[status]} ${status.replace("_", " ")}${status === "error" && shown.error > 1 ? "s" : ""}`,
    );
    if (this.#leftOut > 0) parts.push(`${this.#leftOut} left out`);
    for (const { suite, gates, regressions } of suites) {
      for (const { passed, gate, message } of gates)
        this.#line(passed ? MARKS.passed : MARKS.failed, ` ${suite}: gate ${gate}: ${message}`);
      for (const { what, case: one, message } of regressions)
        this.#line(MARKS.failed, ` ${suite}: ${one ?? ""} is worse than the baseline in ${what}: ${message}`);
    }
    for (const problem of problems) this.#line(MARKS.error, ` ${problem}`);
    const cost = this.#isFree ? `${money(usd)} if it were live` : money(usd);
    this.#line("");
    const text = `${parts.join(", ")} in ${duration(durationMs)}, ${cost} (${mode})`;
    this.#line([exitCode === 0 ? colour.green : colour.red, text]);
    for (const file of written) this.#line(`Report: ${file}`);
  }

  #failure({ trials }: CaseRun, trial: TrialRun): void {
    const of = trials.length > 1 ? ` (trial ${trial.trial} of ${trials.length})` : "";
    if (trial.error !== undefined) this.#indented(`${trial.error}${of}`);
    for (const { passed, grader, message, diff } of trial.verdicts) {
      if (passed) continue;
      this.#indented([colour.red, grader], `${of}: ${message}`);
      if (diff !== undefined) this.#diff(diff);
    }
    const steps = trial.steps.slice(-SHOWN_STEPS);
    if (steps.length === 0) return;
    this.#indented([colour.dim, "what happened:"]);
    if (trial.steps.length > steps.length)
      this.#indented([colour.dim, `  … ${trial.steps.length - steps.length} steps before`]);
    for (const { thread, kind, title, outcome } of steps) {
      const who = thread === "main" ? "" : `${thread}: `;
      const end = outcome === undefined || outcome === "completed" ? "" : ` ${outcome}`;
      this.#indented([colour.dim, oneLine(`  ${who}${kind} ${title}${end}`, columns() - 5)]);
    }
  }

  #diff(diff: string): void {
    const lines = diff.split("\n");
    for (const line of lines.slice(0, SHOWN_DIFF_LINES)) this.#indented([paintOf(line), line]);
    if (lines.length > SHOWN_DIFF_LINES)
      this.#indented([colour.dim, `… ${lines.length - SHOWN_DIFF_LINES} more lines; --report html has all of it`]);
  }

  #indented(...parts: readonly Part[]): void {
    for (const line of painted(parts).split("\n")) process.stdout.write(`    ${line}\n`);
  }

  #line(...parts: readonly Part[]): void {
    process.stdout.write(`${painted(parts)}\n`);
  }
}

/** The one way to the terminal: whatever the text is, only the paint steers it. */
function painted(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === "string" ? escapeHidden(part) : part[0](escapeHidden(part[1])))).join("");
}

function paintOf(line: string): (text: string) => string {
  if (line.startsWith("+")) return colour.green;
  return line.startsWith("-") ? colour.red : colour.dim;
}

function figures(run: CaseRun): string {
  const { trials } = run;
  const [first] = trials;
  if (first === undefined) return "";
  const passed = trials.filter(({ status }) => status === "passed").length;
  const time = trials.reduce((sum, { durationMs }) => sum + durationMs, 0) / trials.length;
  const rate = trials.length === 1 ? "" : ` · ${passed} of ${trials.length} trials`;
  return `  ${duration(time)} · ${money(casesSummary([run]).usd)}${rate}`;
}
