import { graphemes, widthOf } from "../../terminal/text.ts";

/** The part of a text in one row, as offsets. Includes the space at which the row is broken. */
export interface Row {
  readonly start: number;
  readonly end: number;
}

/** Rows of at most `width` columns, broken between words if possible. Keeps all spaces. */
export function rowsOf(text: string, width: number): Row[] {
  let start = 0;
  return text.split("\n").flatMap((line) => {
    const rows = rowsOfLine(line, width).map((row) => ({ start: row.start + start, end: row.end + start }));
    start += line.length + 1;
    return rows;
  });
}

/** The texts of the rows. */
export function wrapRows(text: string, width: number): string[] {
  return rowsOf(text, width).map(({ start, end }) => text.slice(start, end));
}

function rowsOfLine(line: string, width: number): Row[] {
  const rows: Row[] = [];
  let start = 0;
  let used = 0;
  /** Where the row's last word starts, and the columns before it. */
  let word = { at: 0, used: 0 };
  let at = 0;
  const close = (end: number, columns: number): void => {
    rows.push({ start, end });
    start = end;
    used -= columns;
    word = { at: end, used: 0 };
  };
  for (const part of line.split(/(\t)/))
    for (const segment of graphemes(part)) {
      const isSpace = segment === " " || segment === "\t";
      const wide = segment === "\t" ? TAB.length : widthOf(segment);
      // A space at the end of a full row is invisible.
      if (used + wide > width && !isSpace) {
        if (word.at > start) close(word.at, word.used);
        if (used + wide > width) close(at, used);
      }
      at += segment.length;
      used += wide;
      if (isSpace) word = { at, used };
    }
  return [...rows, { start, end: at }];
}

/** Shown for a tab. */
export const TAB = "  ";
