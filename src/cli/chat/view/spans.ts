import { color, graphemes, widthOf } from "../../terminal/text.ts";

/** Text with one style. */
export interface Span {
  readonly text: string;
  readonly style?: Style;
}

export interface Style {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly dim?: boolean;
  readonly strike?: boolean;
  readonly code?: boolean;
}

/** Uses only styles that are readable on dark and light backgrounds. */
export function paint({ text, style = {} }: Span): string {
  if (text === "") return "";
  let shown = text;
  if (style.code === true) shown = color.cyan(shown);
  if (style.strike === true) shown = color.strikethrough(shown);
  if (style.italic === true) shown = color.italic(shown);
  if (style.dim === true) shown = color.dim(shown);
  return style.bold === true ? color.bold(shown) : shown;
}

/** The pieces of one word, which is not broken. Empty for a line break. */
interface Word {
  readonly pieces: readonly Span[];
  readonly width: number;
  readonly isBreak: boolean;
}

/** Lines of at most `width` columns, broken between words if possible. */
export function wrapSpans(spans: readonly Span[], width: number): string[] {
  const room = Math.max(1, width);
  const lines: Span[][] = [[]];
  let used = 0;
  const add = (pieces: readonly Span[], columns: number): void => {
    lines.at(-1)?.push(...pieces);
    used += columns;
  };
  const newLine = (): void => {
    lines.push([]);
    used = 0;
  };
  for (const word of wordsOf(spans)) {
    if (word.isBreak) {
      newLine();
      continue;
    }
    if (used > 0 && used + 1 + word.width > room) newLine();
    else if (used > 0) add([{ text: " ", ...styleOfSpace(lines.at(-1), word) }], 1);
    if (word.width <= room) {
      add(word.pieces, word.width);
      continue;
    }
    for (const piece of word.pieces)
      for (const part of cutToWidth(piece.text, room)) {
        if (used > 0 && used + widthOf(part) > room) newLine();
        add([{ ...piece, text: part }], widthOf(part));
      }
  }
  return lines.map((line) => mergeSpans(line).map(paint).join(""));
}

/** Pieces of at most `width` columns, broken anywhere. */
export function cutToWidth(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const parts: string[] = [];
  let part = "";
  let used = 0;
  for (const segment of graphemes(text)) {
    const wide = widthOf(segment);
    if (used > 0 && used + wide > width) {
      parts.push(part);
      part = "";
      used = 0;
    }
    part += segment;
    used += wide;
  }
  return [...parts, part];
}

function wordsOf(spans: readonly Span[]): Word[] {
  const words: Word[] = [];
  let pieces: Span[] = [];
  const close = (): void => {
    if (pieces.length > 0)
      words.push({ pieces, width: pieces.reduce((sum, { text }) => sum + widthOf(text), 0), isBreak: false });
    pieces = [];
  };
  for (const span of spans)
    for (const part of span.text.split(/([^\S\n]+|\n)/)) {
      if (part === "") continue;
      if (part === "\n") {
        close();
        words.push({ pieces: [], width: 0, isBreak: true });
      } else if (/^\s/.test(part)) close();
      else pieces.push({ ...span, text: part });
    }
  close();
  return words;
}

/** A space between words of one style has that style too, so that they stay one piece. */
function styleOfSpace(line: readonly Span[] | undefined, word: Word): Pick<Span, "style"> {
  const before = line?.at(-1)?.style;
  return before !== undefined && before === word.pieces[0]?.style ? { style: before } : {};
}

function mergeSpans(line: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const span of line) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === span.style)
      spans[spans.length - 1] = { ...last, text: last.text + span.text };
    else spans.push(span);
  }
  return spans;
}
