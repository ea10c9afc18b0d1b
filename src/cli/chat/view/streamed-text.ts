import type { Token, Tokens } from "marked";
import { EscapedPieces } from "../../../words/hidden-text.ts";
import { markdownTokens, codeLines, linesOf } from "./markdown.ts";
import { completeMarkdown } from "./complete-markdown.ts";

/** A streaming message. Finished lines are taken from it; the rest is its tail, shown until more arrives. */
export class StreamedText {
  /** The Markdown that was not taken yet. */
  #source = "";
  /** What was taken last: nothing, whole blocks, or a part of a list or code block, which continues without a blank line. */
  #before: "nothing" | "block" | "list" | "code" = "nothing";
  /** The next item number of a partly taken ordered list: in Markdown, every item may have the number 1. */
  #number = 1;
  readonly #pieces = new EscapedPieces();
  /** The whole text so far, unchanged. */
  #said = "";

  get said(): string {
    return this.#said;
  }

  append(text: string): void {
    this.#said += text;
    this.#source += this.#pieces.push(text.replaceAll("\t", "    "));
  }

  /** Takes the lines that can no longer change. */
  takeFinished(width: number): string[] {
    // Only complete lines can be parsed reliably.
    const tokens = markdownTokens(this.#source.slice(0, this.#source.lastIndexOf("\n") + 1));
    const open = openBlock(tokens);
    const finished = open === undefined ? [] : tokens.slice(0, tokens.indexOf(open));
    const lines = this.#take(finished, width);
    this.#source = this.#source.slice(finished.reduce((sum, { raw }) => sum + raw.length, 0));
    if (open !== undefined) lines.push(...this.#takePart(open, width));
    return lines;
  }

  /** The lines that may still change. */
  tail(width: number): string[] {
    const tokens = markdownTokens(completeMarkdown(this.#source));
    const before = this.#before;
    const lines = this.#take(tokens, width);
    this.#before = before;
    return lines;
  }

  /** Takes everything that is left. */
  end(width: number): string[] {
    const lines = this.#take(markdownTokens(this.#source + this.#pieces.end()), width);
    this.#source = "";
    return lines;
  }

  #take(tokens: readonly Token[], width: number): string[] {
    return tokens.flatMap((token) => {
      const lines = linesOf(this.#withNumber(token), width);
      const gap = this.#gapBefore(token.type);
      // Also after a block whose lines were all taken.
      if (token.type !== "space" && (lines.length > 0 || this.#before !== "nothing")) this.#before = "block";
      return lines.length === 0 ? [] : [...gap, ...lines];
    });
  }

  /** Takes all but the last item of a list, or line of a code block, because they can be long. */
  #takePart(token: Token, width: number): string[] {
    const split = token.type === "list" ? this.#splitList(token as Tokens.List, width) : splitCode(token, width);
    if (split === undefined) return [];
    const gap = this.#gapBefore(token.type);
    this.#source = split.rest + this.#source.slice(token.raw.length);
    this.#before = token.type === "list" ? "list" : "code";
    return [...gap, ...split.lines];
  }

  #splitList(token: Tokens.List, width: number): Split | undefined {
    const { items, raw } = token;
    const at = raw.lastIndexOf(items.at(-1)?.raw ?? raw);
    if (items.length < 2 || at <= 0) return undefined;
    const list = this.#withNumber(token) as Tokens.List;
    this.#number = (list.start || 1) + items.length - 1;
    return { lines: linesOf({ ...list, items: items.slice(0, -1) }, width), rest: raw.slice(at) };
  }

  #withNumber(token: Token): Token {
    const isContinued = token.type === "list" && this.#before === "list" && (token as Tokens.List).ordered;
    return isContinued ? { ...token, start: this.#number } : token;
  }

  #gapBefore(type: string): string[] {
    return this.#before === "nothing" || this.#before === type ? [] : [""];
  }
}

/** The finished part of a block, and a block of the same kind with the rest. */
interface Split {
  readonly lines: readonly string[];
  readonly rest: string;
}

/** The first token that more text can change: the last block, or the blank lines after it if it cannot continue. */
function openBlock(tokens: readonly Token[]): Token | undefined {
  const last = tokens.at(-1);
  if (last?.type !== "space") return last;
  // After a blank line, only lists and code can continue.
  const before = tokens.at(-2);
  return before?.type === "list" || before?.type === "code" ? before : last;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n/;

function splitCode({ type, raw }: Token, width: number): Split | undefined {
  const head = FENCE.exec(raw);
  const at = raw.lastIndexOf("\n");
  if (type !== "code" || head === null || at < head[0].length || isClosed(raw, head[1] ?? "")) return undefined;
  return { lines: codeLines(raw.slice(head[0].length, at), width), rest: head[0] + raw.slice(at + 1) };
}

function isClosed(raw: string, fence: string): boolean {
  const lines = raw.trimEnd().split("\n");
  return lines.length > 1 && lines.at(-1)?.trim().startsWith(fence) === true;
}
