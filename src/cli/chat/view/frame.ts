import { stripVTControlCharacters } from "node:util";
import { widthOf } from "../../terminal/text.ts";
import type { CursorLines } from "../editor/editor-view.ts";

/** An empty live region. */
export const EMPTY_FRAME: CursorLines = { lines: [""], row: 0, column: 0 };

/** Synchronized output: terminals that support it show only complete frames. */
const BEGIN = "\u001B[?2026h\u001B[?25l";
const END = "\u001B[?25h\u001B[?2026l";
/** A line that is wider than computed must not wrap. */
const NO_WRAP = "\u001B[?7l";
const WRAP = "\u001B[?7h";
/** Written before each line: after a full row, the cursor is still on the last character. */
const CLEAR_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";

/** The output that prints `printed` above the live region and replaces `previous` with `next`. Rewrites only changed lines. */
export function frame(previous: CursorLines, next: CursorLines, printed: readonly string[]): string {
  const toTop = `${up(previous.row)}\r`;
  const fresh = printed.length > 0 ? `${CLEAR_BELOW}${printed.map((line) => `${line}\r\n`).join("")}` : "";
  const before = printed.length > 0 ? EMPTY_FRAME : previous;
  const lines = next.lines.map((line, index) => (line === before.lines[index] ? "" : `${CLEAR_LINE}${line}`));
  const rest = before.lines.length > next.lines.length ? `\r\n${CLEAR_BELOW}${up(1)}` : "";
  const toCursor = `${up(next.lines.length - 1 - next.row)}\r${right(next.column)}`;
  return `${BEGIN}${toTop}${fresh}${NO_WRAP}${lines.join("\r\n")}${rest}${WRAP}${toCursor}${END}`;
}

/** The output that removes the live region and leaves the cursor below the finished lines. */
export function clearLive(previous: CursorLines, printed: readonly string[]): string {
  return `${BEGIN}${up(previous.row)}\r${CLEAR_BELOW}${printed.map((line) => `${line}\r\n`).join("")}${END}`;
}

/** The cursor's row in the live region after the terminal was resized to `width`, which may wrap lines. */
export function rowAfterResize({ lines, row, column }: CursorLines, width: number): number {
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
