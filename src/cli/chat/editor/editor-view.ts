import { color, widthOf } from "../../terminal/text.ts";
import { rowsOf, TAB } from "../view/rows.ts";

/** Lines with a cursor position. */
export interface CursorLines {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

const PROMPT = "> ";
const INDENT = "  ";

/** The input as shown: wrapped, and scrolled to the cursor if it is too tall. */
export function editorLines(
  { text, cursor }: { readonly text: string; readonly cursor: number },
  { width, height }: { readonly width: number; readonly height: number },
): CursorLines {
  const room = Math.max(2, width - PROMPT.length);
  const { lines, row, column } = wrapInput(text, cursor, room);
  const first = Math.max(0, Math.min(row - Math.floor(height / 2), lines.length - height));
  const shown = lines.slice(first, first + Math.max(1, height));
  return {
    lines: shown.map((line, index) => (first + index === 0 ? color.bold(PROMPT) : INDENT) + line),
    row: row - first,
    column: column + PROMPT.length,
  };
}

/** Wraps the text. The cursor needs its own column after the last character. */
function wrapInput(text: string, cursor: number, room: number): CursorLines {
  const rows = rowsOf(text, room);
  const row = rows.findLastIndex(({ start }) => start <= cursor);
  const lines = rows.map(({ start, end }) => expandTabs(text.slice(start, end)));
  const column = widthOf(expandTabs(text.slice(rows[row]?.start ?? 0, cursor)));
  const isLast = row === rows.length - 1;
  // Before a line break, the cursor stays at the edge.
  const isFull = column >= room && (isLast || rows[row + 1]?.start === rows[row]?.end);
  if (isFull && isLast) lines.push("");
  return {
    lines: lines.map((line) => (widthOf(line) > room ? line.trimEnd() : line)),
    row: isFull ? row + 1 : row,
    column: isFull ? 0 : column,
  };
}

function expandTabs(text: string): string {
  return text.replaceAll("\t", TAB);
}
