import { Lexer, type Token, type Tokens } from "marked";
import { colour, widthOf } from "../../terminal/text.ts";
import { inline } from "./inline.ts";
import { cut, wrapSpans } from "./spans.ts";
import { tableLines } from "./markdown-table.ts";
import { escapeHidden } from "../../../words/hidden-text.ts";

/** Text of a model as it may be shown: nothing in it steers the terminal. */
export function shownText(text: string): string {
  return escapeHidden(text.replaceAll("\t", "    "));
}

/** A line that a model ends is a line that it means, as in a list without marks. */
export function blocksOf(source: string): readonly Token[] {
  return Lexer.lex(source, { gfm: true, breaks: true });
}

/** Markdown as lines for a terminal, each of at most `width` columns. */
export function markdownLines(source: string, width: number): string[] {
  return linesOfAll(blocksOf(shownText(source)), width);
}

/** Blocks with a blank line between them. */
function linesOfAll(tokens: readonly Token[], width: number): string[] {
  return tokens.reduce<string[]>((lines, token) => {
    const own = linesOf(token, width);
    return own.length === 0 ? lines : [...lines, ...(lines.length > 0 ? [""] : []), ...own];
  }, []);
}

/** One block as lines; none for what is not to be seen. */
export function linesOf(token: Token, width: number): string[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return wrapSpans(inline(token.tokens, { bold: true }), width);
    case "code":
      return (token as Tokens.Code).text === "" ? [] : codeLines((token as Tokens.Code).text, width);
    case "list":
      return listLines(token as Tokens.List, width);
    case "blockquote":
      return linesOfAll(token.tokens ?? [], Math.max(1, width - 2)).map((line) =>
        `${colour.dim("│")} ${line}`.trimEnd(),
      );
    case "hr":
      return [colour.dim("─".repeat(Math.min(width, 40)))];
    case "table":
      return tableLines(token as Tokens.Table, width);
    case "paragraph":
    case "text":
      return wrapSpans(inline(token.tokens ?? [token]), width);
    default:
      return token.raw
        .trimEnd()
        .split("\n")
        .flatMap((line) => wrapSpans([{ text: line }], width));
  }
}

/** As it is, set off by two columns; a line that is too long is broken, because a cut one would hide something. */
export function codeLines(text: string, width: number): string[] {
  const indent = width > 30 ? "  " : " ";
  const room = Math.max(1, width - indent.length);
  return text.split("\n").flatMap((line) => cut(line, room).map((part) => (indent + part).trimEnd()));
}

function listLines({ items, ordered, start }: Tokens.List, width: number): string[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${(start || 1) + index}.` : "•";
    const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : "";
    const indent = widthOf(mark) + 1;
    const lines = itemLines(item, Math.max(1, width - indent - box.length));
    return (lines.length === 0 ? [""] : lines).map((line, nth) =>
      nth === 0 ? `${mark} ${box}${line}`.trimEnd() : line && `${" ".repeat(indent + box.length)}${line}`,
    );
  });
}

/** What belongs to an item stands close together, only its paragraphs apart. */
function itemLines({ tokens }: Tokens.ListItem, width: number): string[] {
  let paragraphs = 0;
  return tokens.flatMap((token) => {
    if (token.type === "checkbox") return [];
    const own = linesOf(token, width);
    if (token.type !== "paragraph") return own;
    paragraphs += 1;
    return paragraphs > 1 ? ["", ...own] : own;
  });
}
