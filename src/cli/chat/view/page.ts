import { color } from "../../terminal/text.ts";
import { printableMarkdown } from "./markdown.ts";
import { wrapRows } from "./rows.ts";
import { paint, type Style, wrapSpans } from "./spans.ts";

/** Kinds of output, separated by blank lines. */
type Kind = "nothing" | "prompt" | "text" | "call" | "note" | "question";

interface Options {
  readonly print: (lines: readonly string[]) => void;
  /** In columns. */
  readonly width: () => number;
}

/** Prints the output of a chat, with blank lines between different kinds. */
export class Page {
  readonly #print: Options["print"];
  readonly #width: Options["width"];
  #last: Kind = "nothing";

  constructor({ print, width }: Options) {
    this.#print = print;
    this.#width = width;
  }

  /** In columns. */
  get width(): number {
    return this.#width();
  }

  /** A message from the chat itself. */
  note(text: string, style: Style = {}): void {
    this.block("note", wrapSpans([{ text: printableMarkdown(text), style }], this.width));
  }

  /** A less important message. */
  quiet(text: string): void {
    this.note(text, { dim: true });
  }

  /** An important message. Only its mark is colored: yellow text is unreadable on a light background. */
  mark(text: string): void {
    const lines = wrapSpans([{ text: printableMarkdown(text) }], Math.max(1, this.width - 2));
    this.block(
      "note",
      lines.map((line, index) => `${index === 0 ? color.yellow("!") : " "} ${line}`),
    );
  }

  /** Lines that are already wrapped and colored. */
  lines(lines: readonly string[]): void {
    this.block("note", lines);
  }

  /** A message of the user. */
  prompt(text: string, style: Style = { bold: true }): void {
    const lines = wrapRows(printableMarkdown(text), Math.max(1, this.width - 2));
    if (this.#last === "prompt") this.#print([""]);
    this.block(
      "prompt",
      lines.map((line, index) => paint({ text: `${index === 0 ? "> " : "  "}${line}`.trimEnd(), style })),
    );
  }

  /** A command of the user, above its output. */
  command(text: string): void {
    this.prompt(text, { dim: true });
  }

  /** Call after a prompt has printed a question. */
  markQuestion(): void {
    this.#last = "question";
  }

  block(kind: Kind, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const gap = this.isApart(kind) && lines[0] !== "" ? [""] : [];
    this.#last = kind;
    this.#print([...gap, ...lines]);
  }

  /** Whether this kind needs a blank line before it. */
  isApart(kind: Kind): boolean {
    return this.#last !== "nothing" && this.#last !== kind;
  }
}
