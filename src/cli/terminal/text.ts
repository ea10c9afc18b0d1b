import { createRequire } from "node:module";
import pc from "picocolors";
import type * as stringWidth from "string-width";
import { escapeHidden } from "../../words/hidden-text.ts";

export { ago, duration, money, thousands as count } from "../../words/amounts.ts";

/** Applies colors only on a terminal, and respects NO_COLOR. */
export const color = pc;

/** A terminal without a size reports 0. */
export function columns(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.columns || 80;
}

let segmenter: Intl.Segmenter | undefined;

/** User-perceived characters. ASCII skips the segmenter, whose tables slow down the start. */
export function graphemes(text: string): Iterable<string> {
  if (/^[ -~]*$/.test(text)) return text;
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Latin, Cyrillic, punctuation, arrows, boxes and check marks: one column each, whatever their neighbors are. */
const NARROW =
  /^[ -~\u00A1-\u00AC\u00AE-\u02FF\u0400-\u0482\u048A-\u04FF\u2010-\u2027\u2030-\u205E\u2190-\u2193\u2500-\u25FC\u2713\u2717]*$/;

let measure: typeof stringWidth.default | undefined;

/** In terminal columns. Loads its tables at the first text that needs them: they take as long as a start of Node. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  measure ??= (createRequire(import.meta.url)("string-width") as typeof stringWidth).default;
  return measure(text);
}

function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of at most `width` characters, broken between words if possible. */
export function wrapText(text: string, width: number): string[] {
  const room = Math.max(width, 20);
  const lines: string[] = [];
  let rest = Array.from(text);
  while (rest.length > room) {
    const space = rest.lastIndexOf(" ", room);
    const at = space > room / 2 ? space : room;
    lines.push(rest.slice(0, at).join(""));
    rest = rest.slice(space > room / 2 ? at + 1 : at);
  }
  return [...lines, rest.join("")];
}

/** One line of at most `width` columns, without line breaks or hidden characters, so that agents cannot fake output. */
export function oneLine(text: string, width: number): string {
  const flat = escapeHidden(text.replaceAll(/\s+/g, " ")).trim();
  if (widthOf(flat) <= width) return flat;
  let cut = "";
  let used = 1;
  for (const segment of graphemes(flat)) {
    used += widthOf(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** The last characters identify a session; every command accepts them instead of the full id. */
export function shortId(sessionId: string): string {
  return sessionId.slice(-8);
}

/** Rows under headings, with hidden characters escaped. The last column is cut to fit the terminal, but never below `atLeast` columns. */
export function table(
  headings: readonly string[],
  cells: readonly (readonly string[])[],
  { atLeast = 12 }: { readonly atLeast?: number } = {},
): string {
  const rows = cells.map((row) => row.map(escapeHidden));
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...rows.map((row) => widthOf(row[index] ?? ""))),
  );
  const line = (row: readonly string[]): string => {
    const cells = row.slice(0, -1).map((cell, index) => padText(cell, widths[index] ?? 0));
    const used = cells.reduce((sum, cell) => sum + widthOf(cell) + 2, 0);
    return [...cells, oneLine(row.at(-1) ?? "", Math.max(atLeast, columns() - used))].join("  ").trimEnd();
  };
  return [color.dim(line(headings)), ...rows.map(line)].join("\n");
}
