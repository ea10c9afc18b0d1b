import type { Token, Tokens } from "marked";
import { EscapedPieces } from "../../../words/hidden-text.ts";
import { blocksOf, codeLines, linesOf } from "./markdown.ts";
import { mended } from "./mended.ts";

/**
 * A message of the model while it is being said. What cannot change any more is taken from it line by line; the rest is
 * its tail, which is shown until more has come.
 */
export class StreamedText {
  /** What was not taken yet, in markdown. */
  #source = "";
  /** What was taken last: nothing, whole blocks, or a part of a block of this type, which goes on without a blank line. */
  #before: "nothing" | "block" | "list" | "code" = "nothing";
  /** The number of the next item, when a part of an ordered list was taken: in markdown each of them may be 1. */
  #number = 1;
  readonly #pieces = new EscapedPieces();
  /** All that was said, as it came. */
  #said = "";

  get said(): string {
    return this.#said;
  }

  append(text: string): void {
    this.#said += text;
    this.#source += this.#pieces.push(text.replaceAll("\t", "    "));
  }

  /** The lines that will not change any more, each given once. */
  takeFinished(width: number): string[] {
    // What a line is, only its end tells.
    const tokens = blocksOf(this.#source.slice(0, this.#source.lastIndexOf("\n") + 1));
    const open = openBlock(tokens);
    const finished = open === undefined ? [] : tokens.slice(0, tokens.indexOf(open));
    const lines = this.#take(finished, width);
    this.#source = this.#source.slice(finished.reduce((sum, { raw }) => sum + raw.length, 0));
    if (open !== undefined) lines.push(...this.#takePart(open, width));
    return lines;
  }

  /** What is shown below what was taken. */
  tail(width: number): string[] {
    const tokens = blocksOf(mended(this.#source));
    const before = this.#before;
    const lines = this.#take(tokens, width);
    this.#before = before;
    return lines;
  }

  /** All that is left. */
  end(width: number): string[] {
    const lines = this.#take(blocksOf(this.#source + this.#pieces.end()), width);
    this.#source = "";
    return lines;
  }

  #take(tokens: readonly Token[], width: number): string[] {
    return tokens.flatMap((token) => {
      const lines = linesOf(this.#numbered(token), width);
      const gap = this.#gapBefore(token.type);
      // Also at the end of a block whose lines were all taken.
      if (token.type !== "space" && (lines.length > 0 || this.#before !== "nothing")) this.#before = "block";
      return lines.length === 0 ? [] : [...gap, ...lines];
    });
  }

  /** Of a list all items but the last, of code all lines but the last: they can be long. */
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
    const list = this.#numbered(token) as Tokens.List;
    this.#number = (list.start || 1) + items.length - 1;
    return { lines: linesOf({ ...list, items: items.slice(0, -1) }, width), rest: raw.slice(at) };
  }

  #numbered(token: Token): Token {
    const goesOn = token.type === "list" && this.#before === "list" && (token as Tokens.List).ordered;
    return goesOn ? { ...token, start: this.#number } : token;
  }

  #gapBefore(type: string): string[] {
    return this.#before === "nothing" || this.#before === type ? [] : [""];
  }
}

/** A block in two: what is finished of it, and a block of the same kind with the rest. */
interface Split {
  readonly lines: readonly string[];
  readonly rest: string;
}

/** Where what more text can still change begins: the last block, or the blank lines after it when it cannot go on. */
function openBlock(tokens: readonly Token[]): Token | undefined {
  const last = tokens.at(-1);
  if (last?.type !== "space") return last;
  // After a blank line only a list can go on, and code.
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
