import type { Tokens } from "marked";
import { stripVTControlCharacters } from "node:util";
import { color, widthOf } from "../../terminal/text.ts";
import { inline } from "./inline.ts";
import { wrapSpans } from "./spans.ts";

/** In columns if they fit; otherwise one line per cell, with its heading. */
export function tableLines({ header, rows }: Tokens.Table, width: number): string[] {
  const cells = [header, ...rows].map((row) => row.map(({ tokens }) => wrapSpans(inline(tokens), Infinity).join(" ")));
  const [headings = [], ...values] = cells;
  const widths = headings.map((_, column) => Math.max(1, ...cells.map((row) => columnsOf(row[column] ?? ""))));
  if (widths.reduce((sum, one) => sum + one + 2, -2) > width) return stackRows(header, rows, width);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(cell))))
      .join("  ")
      .trimEnd();
  return [color.bold(line(headings)), color.dim(widths.map((one) => "─".repeat(one)).join("  ")), ...values.map(line)];
}

function stackRows(header: Tokens.TableCell[], rows: Tokens.TableCell[][], width: number): string[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [""] : []),
    ...row.flatMap((cell, column) =>
      wrapSpans([...inline(header[column]?.tokens, { bold: true }), { text: ": " }, ...inline(cell.tokens)], width),
    ),
  ]);
}

/** Without color codes. */
function columnsOf(text: string): number {
  return widthOf(stripVTControlCharacters(text));
}
