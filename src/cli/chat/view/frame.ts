import { stripVTControlCharacters } from "node:util";
import { widthOf } from "../../terminal/text.ts";
import type { Placed } from "../editor/editor-view.ts";

/** What is on the terminal below the finished lines, as it was drawn. */
export const NOTHING: Placed = { lines: [""], row: 0, column: 0 };

/** A terminal that knows these two shows the frame at once, and no half of it. */
const BEGIN = "\u001B[?2026h\u001B[?25l";
const END = "\u001B[?25h\u001B[?2026l";
/** A line that is wider than the terminal counts it must not take two rows. */
const NO_WRAP = "\u001B[?7l";
const WRAP = "\u001B[?7h";
/** Before a line is written: after one that fills its row, the cursor still stands on the last character. */
const CLEAR_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";

/**
 * What to write to the terminal so that `printed` stands above what is live, and `next` in the place of `previous`. Only
 * lines that differ are written again.
 */
export function frame(previous: Placed, next: Placed, printed: readonly string[]): string {
  const toTop = `${up(previous.row)}\r`;
  const fresh = printed.length > 0 ? `${CLEAR_BELOW}${printed.map((line) => `${line}\r\n`).join("")}` : "";
  const before = printed.length > 0 ? NOTHING : previous;
  const lines = next.lines.map((line, index) => (line === before.lines[index] ? "" : `${CLEAR_LINE}${line}`));
  const rest = before.lines.length > next.lines.length ? `\r\n${CLEAR_BELOW}${up(1)}` : "";
  const toCursor = `${up(next.lines.length - 1 - next.row)}\r${right(next.column)}`;
  return `${BEGIN}${toTop}${fresh}${NO_WRAP}${lines.join("\r\n")}${rest}${WRAP}${toCursor}${END}`;
}

/** What to write so that only the finished lines are left, with the cursor below them. */
export function leaving(previous: Placed, printed: readonly string[]): string {
  return `${BEGIN}${up(previous.row)}\r${CLEAR_BELOW}${printed.map((line) => `${line}\r\n`).join("")}${END}`;
}

/**
 * Where the cursor stands in the rows of what was drawn, when the terminal has become `width` wide: it breaks lines that
 * are longer now.
 */
export function rowAfterResize({ lines, row, column }: Placed, width: number): number {
  const rows = (line: string): number =>
    Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / Math.max(1, width)));
  return lines.slice(0, row).reduce((sum, line) => sum + rows(line), 0) + Math.floor(column / Math.max(1, width));
}

function up(rows: number): string {
  return rows > 0 ? `\u001B[${rows}A` : "";
}

function right(columns: number): string {
  return columns > 0 ? `\u001B[${columns}C` : "";
}
