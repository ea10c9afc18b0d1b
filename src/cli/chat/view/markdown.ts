import { Lexer, type Token, type Tokens } from "marked";
import { color, widthOf } from "../../terminal/text.ts";
import { inline } from "./inline.ts";
import { cutToWidth, wrapSpans } from "./spans.ts";
import { tableLines } from "./markdown-table.ts";
import { escapeHidden } from "../../../words/hidden-text.ts";

/** Escapes control characters in a model's text. */
export function printableMarkdown(text: string): string {
  return escapeHidden(text.replaceAll("\t", "    "));
}

/** Keeps the model's line breaks, as in a list without bullets. */
export function markdownTokens(source: string): readonly Token[] {
  return Lexer.lex(source, { gfm: true, breaks: true });
}

/** Markdown as lines for a terminal, each of at most `width` columns. */
export function markdownLines(source: string, width: number): string[] {
  return linesOfAll(markdownTokens(printableMarkdown(source)), width);
}

/** Blocks, separated by blank lines. */
function linesOfAll(tokens: readonly Token[], width: number): string[] {
  return tokens.reduce<string[]>((lines, token) => {
    const own = linesOf(token, width);
    return own.length === 0 ? lines : [...lines, ...(lines.length > 0 ? [""] : []), ...own];
  }, []);
}

/** The lines of one block; none for invisible blocks. */
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
        `${color.dim("│")} ${line}`.trimEnd(),
      );
    case "hr":
      return [color.dim("─".repeat(Math.min(width, 40)))];
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

/** Indented; wraps long lines instead of cutting them, which would hide text. */
export function codeLines(text: string, width: number): string[] {
  const indent = width > 30 ? "  " : " ";
  const room = Math.max(1, width - indent.length);
  return text.split("\n").flatMap((line) => cutToWidth(line, room).map((part) => (indent + part).trimEnd()));
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

/** Only paragraphs within an item are separated by blank lines. */
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
