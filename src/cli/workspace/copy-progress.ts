import type { CopyProgress } from "../../core/ports/workspace.ts";
import { size } from "../../words/amounts.ts";
import { count, oneLine } from "../terminal/text.ts";

/** A progress line for copies that erases itself in the end. Only on a terminal. */
export class CopyLine {
  readonly #out: NodeJS.WriteStream;
  #isShown = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  readonly show = ({ files, totalFiles, bytes }: CopyProgress): void => {
    if (!this.#out.isTTY) return;
    this.#isShown = true;
    const text = `copying ${count(files)} of ${count(totalFiles)} files, ${size(bytes)}`;
    this.#out.write(`\r${oneLine(text, (this.#out.columns || 80) - 1)}\u001B[K`);
  };

  [Symbol.dispose](): void {
    if (this.#isShown) this.#out.write("\r\u001B[K");
  }
}
