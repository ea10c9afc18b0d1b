import type { Case, Suite } from "../../core/suite/suite.ts";
import type { CaseRun, SuiteRun, TrialRun } from "../../core/suite/suite-run.ts";
import { CASE_STATUSES, casesSummary, runSummary } from "../../core/suite/suite-run-summary.ts";
import { acceptedDrift, ignoredVariation } from "../../eval/reports/words.ts";
import { filteredOut } from "../../eval/select.ts";
import { color, columns, duration, money, oneLine } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Part of a line, plain or colored. */
type Part = string | readonly [paint: (text: string) => string, text: string];

const MARKS: Readonly<Record<CaseRun["status"], Part>> = {
  passed: [color.green, "✓"],
  failed: [color.red, "✗"],
  error: [color.red, "!"],
  skipped: [color.dim, "-"],
  not_run: [color.yellow, "!"],
};
/** Only the last steps, which usually explain a failure. */
const SHOWN_STEPS = 12;
const SHOWN_DIFF_LINES = 40;

/** Shows a run of suites: one line per case, and why cases failed. */
export class TestView {
  readonly #isQuiet: boolean;
  /** The run costs nothing. */
  readonly #isFree: boolean;
  /** The skip reason of filtered cases, which are only counted. */
  readonly #filtered: string;
  #leftOut = 0;

  constructor(options: { readonly isQuiet: boolean; readonly isFree: boolean; readonly filter: readonly string[] }) {
    this.#isQuiet = options.isQuiet;
    this.#isFree = options.isFree;
    this.#filtered = filteredOut(options.filter);
  }

  readonly showStart = (suite: Suite, one: Case): void => {
    if (!this.#isQuiet && process.stderr.isTTY)
      process.stderr.write(
        `\r\u001B[K${color.dim(oneLine(`… ${suite.name}: ${one.name}`, columns(process.stderr) - 1))}`,
      );
  };

  /** Removes the progress line. */
  readonly clearProgress = (): void => {
    if (!this.#isQuiet && process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  };

  readonly showCase = (suite: Suite, run: CaseRun): void => {
    if (this.#isQuiet) return;
    if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
    if (run.status === "skipped" && run.reason === this.#filtered) {
      this.#leftOut += 1;
      return;
    }
    this.#printLine(MARKS[run.status], ` ${suite.name}: ${run.case}`, [color.dim, figures(run)]);
    if (run.status === "skipped" || run.status === "not_run") {
      const what = run.status === "skipped" ? "skipped" : "not run";
      return this.#printIndented([color.dim, `${what}: ${run.reason ?? ""}`]);
    }
    for (const trial of run.trials.filter(({ status }) => status !== "passed").slice(0, 1)) this.#failure(run, trial);
    const drift = acceptedDrift(run.trials);
    if (drift !== undefined) this.#printIndented([color.yellow, drift]);
    const ignored = ignoredVariation(run.trials);
    if (ignored !== undefined) this.#printIndented([color.dim, ignored]);
  };

  summary(run: SuiteRun, written: readonly string[]): void {
    if (this.#isQuiet) return;
    const { suites, mode, problems, exitCode } = run;
    const { counts, usd, durationMs } = runSummary(run);
    const shown = { ...counts, skipped: counts.skipped - this.#leftOut };
    const parts = CASE_STATUSES.filter((status) => shown[status] > 0).map(
      (status) => `${shown[status]} ${status.replace("_", " ")}${status === "error" && shown.error > 1 ? "s" : ""}`,
    );
    if (this.#leftOut > 0) parts.push(`${this.#leftOut} filtered out`);
    for (const { suite, gates, regressions } of suites) {
      for (const { passed, gate, message } of gates)
        this.#printLine(passed ? MARKS.passed : MARKS.failed, ` ${suite}: gate ${gate}: ${message}`);
      for (const { what, case: one, message } of regressions)
        this.#printLine(MARKS.failed, ` ${suite}: ${one ?? ""} regressed from the baseline in ${what}: ${message}`);
    }
    for (const problem of problems) this.#printLine(MARKS.error, ` ${problem}`);
    const cost = this.#isFree ? `${money(usd)} if run live` : money(usd);
    this.#printLine("");
    const text = `${parts.join(", ")} in ${duration(durationMs)}, ${cost} (${mode})`;
    this.#printLine([exitCode === 0 ? color.green : color.red, text]);
    for (const file of written) this.#printLine(`Report: ${file}`);
  }

  #failure({ trials }: CaseRun, trial: TrialRun): void {
    const of = trials.length > 1 ? ` (trial ${trial.trial} of ${trials.length})` : "";
    if (trial.error !== undefined) this.#printIndented(`${trial.error}${of}`);
    for (const { passed, grader, message, diff } of trial.verdicts) {
      if (passed) continue;
      this.#printIndented([color.red, grader], `${of}: ${message}`);
      if (diff !== undefined) this.#diff(diff);
    }
    const steps = trial.steps.slice(-SHOWN_STEPS);
    if (steps.length === 0) return;
    this.#printIndented([color.dim, "steps:"]);
    if (trial.steps.length > steps.length)
      this.#printIndented([color.dim, `  … ${trial.steps.length - steps.length} earlier steps`]);
    for (const { thread, kind, title, outcome } of steps) {
      const who = thread === "main" ? "" : `${thread}: `;
      const end = outcome === undefined || outcome === "completed" ? "" : ` ${outcome}`;
      this.#printIndented([color.dim, oneLine(`  ${who}${kind} ${title}${end}`, columns() - 5)]);
    }
  }

  #diff(diff: string): void {
    const lines = diff.split("\n");
    for (const line of lines.slice(0, SHOWN_DIFF_LINES)) this.#printIndented([paintOf(line), line]);
    if (lines.length > SHOWN_DIFF_LINES)
      this.#printIndented([color.dim, `… ${lines.length - SHOWN_DIFF_LINES} more lines; see all with --report html`]);
  }

  #printIndented(...parts: readonly Part[]): void {
    for (const line of paint(parts).split("\n")) process.stdout.write(`    ${line}\n`);
  }

  #printLine(...parts: readonly Part[]): void {
    process.stdout.write(`${paint(parts)}\n`);
  }
}

/** Escapes control characters in every text, so that only our own colors reach the terminal. */
function paint(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === "string" ? escapeHidden(part) : part[0](escapeHidden(part[1])))).join("");
}

function paintOf(line: string): (text: string) => string {
  if (line.startsWith("+")) return color.green;
  return line.startsWith("-") ? color.red : color.dim;
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
