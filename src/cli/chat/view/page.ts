import { colour } from "../../terminal/text.ts";
import { shownText } from "./markdown.ts";
import { brokenText } from "./rows.ts";
import { painted, type Style, wrapSpans } from "./spans.ts";

/** What was printed last: a blank line sets one kind off from another. */
type Kind = "nothing" | "prompt" | "text" | "call" | "note" | "question";

interface Options {
  readonly print: (lines: readonly string[]) => void;
  /** In columns. */
  readonly width: () => number;
}

/** What a chat has printed, from its beginning on: knows where blank lines belong, and how wide lines may be. */
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

  /** A line of the chat itself. */
  note(text: string, style: Style = {}): void {
    this.block("note", wrapSpans([{ text: shownText(text), style }], this.width));
  }

  /** One that need not be read. */
  quiet(text: string): void {
    this.note(text, { dim: true });
  }

  /** One that should be. Only its mark has a colour: a sentence in yellow cannot be read on a light ground. */
  mark(text: string): void {
    const lines = wrapSpans([{ text: shownText(text) }], Math.max(1, this.width - 2));
    this.block(
      "note",
      lines.map((line, index) => `${index === 0 ? colour.yellow("!") : " "} ${line}`),
    );
  }

  /** Lines that are broken and painted already. */
  lines(lines: readonly string[]): void {
    this.block("note", lines);
  }

  /** What a person has said. */
  prompt(text: string, style: Style = { bold: true }): void {
    const lines = brokenText(shownText(text), Math.max(1, this.width - 2));
    if (this.#last === "prompt") this.#print([""]);
    this.block(
      "prompt",
      lines.map((line, index) => painted({ text: `${index === 0 ? "> " : "  "}${line}`.trimEnd(), style })),
    );
  }

  /** A command as it was written, above what comes of it. */
  command(text: string): void {
    this.prompt(text, { dim: true });
  }

  /** A question was on the screen, printed by somebody else. */
  asked(): void {
    this.#last = "question";
  }

  block(kind: Kind, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const gap = this.isApart(kind) && lines[0] !== "" ? [""] : [];
    this.#last = kind;
    this.#print([...gap, ...lines]);
  }

  /** Whether a blank line stands before what is of this kind. */
  isApart(kind: Kind): boolean {
    return this.#last !== "nothing" && this.#last !== kind;
  }
}
