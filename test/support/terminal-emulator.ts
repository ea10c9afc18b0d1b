import { widthOf, graphemes } from "../../src/cli/terminal/text.ts";

/** As much of a terminal as a chat writes to, without colours: enough to know what a screen looks like after frames. */
export class TerminalEmulator {
  readonly #height: number;
  /** All lines, those that were scrolled out of sight too. */
  readonly #lines: string[] = [""];
  #row = 0;
  #column = 0;

  constructor(height: number) {
    this.#height = height;
  }

  /** Without the empty ones at the end. */
  get lines(): readonly string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  }

  get cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#row, column: this.#column };
  }

  write(text: string): void {
    // oxlint-disable-next-line no-control-regex -- escape codes are what it is about
    for (const [part, parameters, command] of text.matchAll(/\u001B\[([\d?;]*)([A-Za-z])|\r|\n|[^\u001B\r\n]+/g)) {
      if (command !== undefined) this.#control(command, Number(parameters || "1"));
      else if (part === "\r") this.#column = 0;
      else if (part === "\n") this.#down();
      else this.#put(part);
    }
  }

  /** A row above the first that is in sight cannot be reached. */
  get #top(): number {
    return Math.max(0, this.#lines.length - this.#height);
  }

  #control(command: string, count: number): void {
    if (command === "A") this.#row = Math.max(this.#top, this.#row - count);
    else if (command === "C") this.#column += count;
    else if (command === "K") this.#lines[this.#row] = this.#before();
    else if (command === "J")
      for (let row = this.#row; row < this.#lines.length; row++)
        this.#lines[row] = row === this.#row ? this.#before() : "";
  }

  #before(): string {
    return (this.#lines[this.#row] ?? "").slice(0, this.#column);
  }

  #down(): void {
    this.#row += 1;
    if (this.#row === this.#lines.length) this.#lines.push("");
  }

  #put(text: string): void {
    const line = (this.#lines[this.#row] ?? "").padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + text + line.slice(this.#column + text.length);
    for (const segment of graphemes(text)) this.#column += widthOf(segment);
  }
}
