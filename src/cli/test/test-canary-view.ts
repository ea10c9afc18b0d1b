import type { CanaryCase, CanaryRun } from "../../eval/compare/canary.ts";
import type { LogDifference } from "../../eval/compare/log-differences.ts";
import { groupDifferences, othersText } from "./group-differences.ts";
import { paintPatch } from "../workspace/diff-view.ts";
import { color, columns, oneLine } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Shown per case; --json has all. */
const SHOWN = 12;
const SHOWN_DIFF_LINES = 12;

const MARKS = { same: color.green("✓"), different: color.red("✗"), not_compared: color.yellow("!") } as const;

/** What behaves differently on another SDK version, case by case. */
export function canaryText({ pinned, other, cases, problems }: CanaryRun): string {
  const count = (status: CanaryCase["status"]): number => cases.filter((one) => one.status === status).length;
  const parts = [
    [count("same"), "the same"],
    [count("different"), "different"],
    [count("not_compared"), "not compared"],
  ] as const;
  const counts = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return [
    ...cases.map(caseText),
    ...problems.map((problem) => `${MARKS.not_compared} ${escapeHidden(problem)}`),
    "",
    `SDK ${pinned} and ${other}: ${counts.length === 0 ? "nothing to compare" : counts.join(", ")}`,
  ].join("\n");
}

function caseText({
  suite,
  case: name,
  trial,
  status,
  reason,
  before,
  after,
  error,
  drifts,
  differences,
}: CanaryCase): string {
  const number = trial === 1 ? "" : ` (trial ${trial})`;
  const lines = [`${MARKS[status]} ${escapeHidden(`${suite}: ${name}${number}`)}`];
  if (reason !== undefined) lines.push(`    ${escapeHidden(reason)}`);
  if (before !== after) lines.push(`    before: ${ENDS[before]}, now: ${ENDS[after]}`);
  if (error !== undefined) lines.push(`    ${escapeHidden(error)}`);
  const changed = groupDifferences(drifts);
  for (const { first, others } of changed.slice(0, SHOWN)) {
    const { thread, ordinal, summary, diff } = first;
    const where = `request ${ordinal} of ${escapeHidden(thread)}${othersText(others)}`;
    lines.push(`    changed: ${where}: ${escapeHidden(summary)}`, ...patchLines(diff));
  }
  lines.push(...differences.slice(0, SHOWN).flatMap(differenceLines));
  const left = Math.max(0, changed.length - SHOWN) + Math.max(0, differences.length - SHOWN);
  if (left > 0) lines.push(color.dim(`    … ${left} more (--json has all)`));
  return lines.join("\n");
}

const ENDS = { passed: "passed", failed: "failed", error: "could not run" } as const;

function patchLines(diff: string): string[] {
  const lines = escapeHidden(diff.trimEnd()).split("\n").slice(2);
  const cut = lines
    .slice(0, SHOWN_DIFF_LINES)
    .map((line) => (line.length > room() ? `${line.slice(0, room() - 1)}…` : line));
  const shown = paintPatch(cut.join("\n"))
    .split("\n")
    .map((line) => `      ${line}`);
  return lines.length > shown.length
    ? [...shown, color.dim(`      … ${lines.length - shown.length} more lines`)]
    : shown;
}

function differenceLines({ thread, index, type, path, before, after }: LogDifference): string[] {
  const what = path === "" ? (before === undefined ? " was added" : " was removed") : ` ${path}`;
  return [
    `    event ${index} of ${escapeHidden(thread)}, ${escapeHidden(`${type}${what}`)}`,
    ...(before === undefined ? [] : [color.red(valueLine("-", before))]),
    ...(after === undefined ? [] : [color.green(valueLine("+", after))]),
  ];
}

/** Columns of an indented line below a case. */
function room(): number {
  return Math.max(20, columns() - 6);
}

function valueLine(sign: string, value: unknown): string {
  return `      ${sign} ${oneLine(escapeHidden(typeof value === "string" ? value : JSON.stringify(value)), room() - 2)}`;
}
