import type { CopyProgress } from "../../core/ports/workspace.ts";
import { size } from "../../words/amounts.ts";
import { count, oneLine } from "../terminal/text.ts";

/** A line that tells how far a copy is, written over itself and gone in the end. Only on a terminal. */
export class CopyLine {
  readonly #out: NodeJS.WriteStream;
  #isThere = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  readonly show = ({ files, totalFiles, bytes }: CopyProgress): void => {
    if (!this.#out.isTTY) return;
    this.#isThere = true;
    const text = `copying ${count(files)} of ${count(totalFiles)} files, ${size(bytes)}`;
    this.#out.write(`\r${oneLine(text, (this.#out.columns || 80) - 1)}\u001B[K`);
  };

  [Symbol.dispose](): void {
    if (this.#isThere) this.#out.write("\r\u001B[K");
  }
}
