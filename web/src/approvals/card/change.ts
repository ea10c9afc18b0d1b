import type { WireApproval } from "../../../../src/client/index.ts";
import { type DiffLine, type FileDiff, filesOf } from "../../parts/text/diff.ts";
import { canBeLaidOut } from "../../parts/text/markdown-limits.ts";
import { factsOf, programsOf } from "./describe.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";
import { thousands } from "../../../../src/words/amounts.ts";

type Request = WireApproval["request"];

/** A change as shown to the person who decides about it, with hidden characters written out. */
export interface ShownChange {
  readonly files: readonly ShownFile[];
  /** A truncated diff no longer parses, so it is shown as plain text. */
  readonly text?: string;
}

export interface ShownFile {
  readonly file: FileDiff;
  /** A note that applies to all of its lines. */
  readonly note: string | undefined;
}

/** Lines of one file and characters of one text shown before "show all". */
export const MAX_LINES = 200;
export const MAX_CHARACTERS = 50_000;

export function changeOf(diff: string | undefined): ShownChange | undefined {
  if (diff === undefined) return undefined;
  const files = filesOf(diff);
  return files.some(({ lines }) => lines.length > 0)
    ? { files: files.map(showFile) }
    : { files: [], text: escapeHidden(diff) };
}

function showFile(file: FileDiff): ShownFile {
  const note = lineEnds(file.lines);
  const lines = file.lines.map((line) => ({
    ...line,
    text: escapeHidden(note === undefined ? line.text : bare(line)),
  }));
  return { file: { ...file, path: escapeHidden(file.path), lines }, note };
}

/** A carriage return at the end of an unterminated last line does not end the line. */
function hasWindowsEnd({ text, isUnended }: DiffLine): boolean {
  return isUnended !== true && text.endsWith("\r");
}

function bare(line: DiffLine): string {
  return hasWindowsEnd(line) ? line.text.slice(0, -1) : line.text;
}

const KINDS = [
  ["+", "added"],
  ["-", "removed"],
  [" ", "unchanged"],
] as const;

/** Stated once if it applies to all lines of a kind; otherwise each line is marked. */
function lineEnds(lines: readonly DiffLine[]): string | undefined {
  const ended = lines.filter(({ kind, isUnended }) => kind !== "@" && isUnended !== true);
  const there = KINDS.map(([kind, word]) => ({ word, of: ended.filter((line) => line.kind === kind) })).filter(
    ({ of }) => of.length > 0,
  );
  const some = there.filter(({ of }) => of.some(hasWindowsEnd));
  if (some.length === 0 || !some.every(({ of }) => of.every(hasWindowsEnd))) return undefined;
  const where = some.length === there.length ? "" : ` in ${some.map(({ word }) => word).join(" and ")} lines`;
  return `Windows line endings${where}`;
}

/** What is not shown yet: lines of the change, characters of long texts. */
export function unseenIn(request: Request, change: ShownChange | undefined): string | undefined {
  const texts = textsOf(request, change);
  const lines = (change?.files ?? []).map(({ file }) => over(file.lines.length, MAX_LINES));
  const characters = texts.map(({ length }) => over(length, MAX_CHARACTERS));
  const parts = [countMore(sum(lines), "line"), countMore(sum(characters), "character")].filter(
    (part) => part !== undefined,
  );
  if (parts.length === 0) return undefined;
  return `${parts.join(" and ")} not shown`;
}

function textsOf(request: Request, change: ShownChange | undefined): readonly string[] {
  const { command } = request.input;
  const plan = planOf(request);
  // Rendered text is always shown in full.
  if (plan !== undefined) return canBeLaidOut(showPlan(plan)) ? [] : [showPlan(plan)];
  return [
    // For other tools it is one of the facts.
    ...(request.tool === "Bash" && typeof command === "string" ? [escapeHidden(command)] : []),
    ...programsOf(request),
    ...factsOf(request).map(({ text }) => text),
    change?.text ?? "",
  ];
}

/** The plan to approve. If it is not text, it is shown like the input of any other call. */
export function planOf({ kind, input: { plan } }: Request): string | undefined {
  return kind === "plan" && typeof plan === "string" ? plan : undefined;
}

/** In a plan, Windows line endings are normal line endings and not hidden characters. */
export function showPlan(plan: string): string {
  return escapeHidden(plan.replaceAll("\r\n", "\n"));
}

function over(length: number, limit: number): number {
  return Math.max(0, length - limit);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function countMore(count: number, word: string): string | undefined {
  return count === 0 ? undefined : `${thousands(count)} more ${word}${count === 1 ? "" : "s"}`;
}
