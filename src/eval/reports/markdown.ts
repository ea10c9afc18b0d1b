import type { CaseRun, SuiteResult, SuiteRun, TrialRun } from "../../core/suite/suite-run.ts";
import { CASE_STATUSES, type CaseStatus, casesSummary, runSummary } from "../../core/suite/suite-run-summary.ts";
import { runOutcome, priceNote, STATUS_WORDS, timeOf } from "../../core/suite/suite-run-words.ts";
import { printable } from "./printable.ts";
import { duration } from "../../words/amounts.ts";
import { acceptedDrift, ignoredVariation, passedOf, priceText } from "./words.ts";

const SIGNS: Readonly<Record<CaseStatus, string>> = {
  passed: "✅",
  failed: "❌",
  error: "⚠️",
  not_run: "🚫",
  skipped: "⏭️",
};
/** With more rows than this, only those that did not pass are shown. */
const MAX_ROWS = 40;
const MAX_TABLE = 10_000;
const MAX_VERDICTS = 5;
/** GitHub limits a comment to 65,536 characters. */
const MAX_LENGTH = 55_000;
const MAX_NAME = 120;
const MAX_REASON = 1_000;
const MAX_DIFF_LINES = 60;
const MAX_DIFF = 3_000;

/**
 * Short, for a comment on a pull request. Foreign text is formatted as code, so that it cannot format anything or
 * mention anyone.
 */
export function markdownReport(run: SuiteRun): string {
  const tables = fitting(run.suites.map(table), MAX_LENGTH / 2);
  const unseen = run.suites.length - tables.length;
  const more = unseen > 0 ? ["", `… and ${unseen} more suites, in the other reports.`] : [];
  const head = [...totals(run), ...troubles(run), ...tables, ...more].join("\n");
  const bad = run.suites.flatMap(({ suite, cases }) =>
    cases.filter(({ status }) => status === "failed" || status === "error").map((one) => failure(suite, one)),
  );
  const shown = fitting(bad, MAX_LENGTH - head.length);
  const left = bad.length - shown.length;
  return [
    head,
    ...(shown.length > 0 ? ["", "### What went wrong", "", ...shown] : []),
    ...(left > 0 ? ["", `… and ${left} more, in the other reports.`] : []),
    "",
  ].join("\n");
}

function totals(run: SuiteRun): readonly string[] {
  const summary = runSummary(run);
  const counts = CASE_STATUSES.filter((status) => summary.counts[status] > 0)
    .map((status) => `${SIGNS[status]} ${summary.counts[status]} ${STATUS_WORDS[status]}`)
    .join(" · ");
  return [
    `## ${run.exitCode === 0 ? SIGNS.passed : SIGNS.failed} Capstan: ${runOutcome(run).toLowerCase()}`,
    "",
    counts === "" ? "No cases" : counts,
    "",
    `${run.mode} · ${duration(run.durationMs)} · ${priceText(summary)} (${priceNote(run, summary)}) · Capstan ${code(run.capstan)}, SDK ${code(run.sdk)}`,
  ];
}

/** Problems of the run or of a whole suite, and what passed only because drift was accepted. */
function troubles({ problems, suites }: SuiteRun): readonly string[] {
  const lines = [
    ...problems.map((problem) => `- **Problem:** ${code(problem, MAX_REASON)}`),
    ...suites.flatMap(({ suite, gates, regressions }) => [
      ...gates
        .filter(({ passed }) => !passed)
        .map(({ gate, message }) => `- **Gate** ${code(`${suite}: ${gate}`)}: ${code(message)}`),
      ...regressions.map(
        ({ what, case: name, message }) =>
          `- **Worse than the baseline** ${code(name === undefined ? suite : `${suite}: ${name}`)}: ${code(message)} (${code(what)})`,
      ),
    ]),
    ...suites.flatMap(({ suite, cases }) =>
      cases.flatMap(({ case: name, trials }) => {
        const drift = acceptedDrift(trials);
        const ignored = ignoredVariation(trials);
        return [
          ...(drift === undefined ? [] : [`- **Drift** ${code(`${suite}: ${name}`)}: ${drift}`]),
          ...(ignored === undefined ? [] : [`- **Ignored** ${code(`${suite}: ${name}`)}: ${ignored}`]),
        ];
      }),
    ),
  ];
  const shown = fitting(lines, MAX_LENGTH / 3);
  const left = lines.length - shown.length;
  return lines.length === 0 ? [] : ["", ...shown, ...(left > 0 ? [`- … and ${left} more`] : [])];
}

function table({ suite, cases }: SuiteResult): string {
  const isLong = cases.length > MAX_ROWS;
  const wanted = isLong ? cases.filter(({ status }) => status !== "passed") : cases;
  const rows = fitting(wanted.slice(0, MAX_ROWS).map(row), MAX_TABLE);
  const left = cases.length - rows.length;
  return [
    "",
    `### ${code(suite)}`,
    "",
    ...(rows.length > 0 ? ["| | case | trials | cost | time |", "|---|---|---:|---:|---:|", ...rows] : []),
    ...(left > 0 ? ["", `… and ${left} more${wanted.length > rows.length ? "" : ", which passed"}.`] : []),
  ].join("\n");
}

function row(one: CaseRun): string {
  const why = one.reason === undefined ? "" : ` (${STATUS_WORDS[one.status]}: ${code(one.reason)})`;
  const isRun = one.trials.length > 0;
  return [
    "",
    ` ${SIGNS[one.status]} `,
    ` ${code(one.case)}${why} `,
    isRun ? ` ${passedOf(one)} ` : " ",
    isRun ? ` ${priceText(casesSummary([one]))} ` : " ",
    isRun ? ` ${duration(timeOf(one))} ` : " ",
    "",
  ].join("|");
}

function failure(suite: string, one: CaseRun): string {
  const bad = one.trials.filter(({ status }) => status !== "passed");
  const [first] = bad;
  const rest =
    bad.length > 1 ? ["", `${bad.length} of ${one.trials.length} trials did not pass; this is the first.`] : [];
  // A summary contains HTML, not Markdown.
  return [
    `<details><summary>${SIGNS[one.status]} <code>${html(cut(`${suite}: ${one.case}`, MAX_NAME))}</code></summary>`,
    ...(first === undefined ? [] : reasons(first)),
    ...rest,
    "",
    "</details>",
    "",
  ].join("\n");
}

function reasons({ error, verdicts }: TrialRun): readonly string[] {
  const failed = verdicts.filter(({ passed }) => !passed);
  return [
    ...(error === undefined ? [] : fence("", cut(error, MAX_REASON))),
    ...failed
      .slice(0, MAX_VERDICTS)
      .flatMap(({ grader, message, diff }) => [
        ...fence("", cut(`${grader}: ${message}`, MAX_REASON)),
        ...(diff === undefined || diff === "" ? [] : fence("diff", cutLines(diff))),
      ]),
  ];
}

/** As many as fit, from the first on. */
function fitting(parts: readonly string[], room: number): readonly string[] {
  let left = room;
  return parts.filter((part) => (left -= part.length + 1) >= 0);
}

/** A block that no text in it can end. */
function fence(kind: string, text: string): readonly string[] {
  const clean = printable(text);
  const ticks = "`".repeat(Math.max(3, longestTicks(clean) + 1));
  return ["", `${ticks}${kind}`, clean, ticks];
}

/** For a line or a table cell, where a bar would end the cell and some renderers undo its escape. */
function code(text: string, max = MAX_NAME): string {
  const line = printable(cut(text, max)).replaceAll(/\s+/g, " ").trim();
  if (line === "") return "(empty)";
  return /[`|]/.test(line) ? `<code>${line.replaceAll(/[^\p{L}\p{N} ]/gu, reference)}</code>` : `\`${line}\``;
}

function reference(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

function html(text: string): string {
  return printable(text)
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

function cutLines(text: string): string {
  const lines = text.trimEnd().split("\n");
  const few = lines.length > MAX_DIFF_LINES ? [...lines.slice(0, MAX_DIFF_LINES), "…"] : lines;
  return cut(few.join("\n"), MAX_DIFF);
}
