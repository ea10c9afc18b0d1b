import { colour, graphemes, widthOf } from "../text.ts";

/** Lines with a place in them. */
export interface Placed {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

const PROMPT = "> ";
const INDENT = "  ";

/** The input as it is shown: broken at the edge, and when it is too high the part around the cursor. */
export function editorLines(
  { text, cursor }: { readonly text: string; readonly cursor: number },
  { width, height }: { readonly width: number; readonly height: number },
): Placed {
  const room = Math.max(2, width - PROMPT.length);
  const { lines, row, column } = broken(text, cursor, room);
  const first = Math.max(0, Math.min(row - Math.floor(height / 2), lines.length - height));
  const shown = lines.slice(first, first + Math.max(1, height));
  return {
    lines: shown.map((line, index) => (first + index === 0 ? colour.bold(PROMPT) : INDENT) + line),
    row: row - first,
    column: column + PROMPT.length,
  };
}

/** The cursor needs a column of its own after the last character. */
function broken(text: string, cursor: number, room: number): Placed {
  const lines: string[] = [""];
  let place = { row: 0, column: 0 };
  let used = 0;
  let at = 0;
  const newLine = (): void => {
    lines.push("");
    used = 0;
  };
  for (const segment of eachGrapheme(text)) {
    const isBreak = segment === "\n";
    const shown = segment === "\t" ? "  " : segment;
    const wide = isBreak ? 0 : widthOf(shown);
    if (used + wide > room) newLine();
    if (at === cursor) place = { row: lines.length - 1, column: used };
    if (isBreak) newLine();
    else {
      lines[lines.length - 1] += shown;
      used += wide;
    }
    at += segment.length;
  }
  if (at !== cursor) return { lines, ...place };
  if (used >= room) newLine();
  return { lines, row: lines.length - 1, column: used };
}

function* eachGrapheme(text: string): Generator<string> {
  for (const part of text.split(/([\n\t])/)) yield* graphemes(part);
}
