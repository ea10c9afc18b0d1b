import { type Key, listenForKeys } from "./key.ts";

const PASTE_ON = "\u001B[?2004h";
/** Also restores the cursor and line wrapping if a frame was interrupted. */
const RESTORED = "\u001B[?2004l\u001B[?7h\u001B[?25h\u001B[?2026l";

/** Reads the keyboard of a chat. Restores the terminal however the program ends. */
export class Keyboard implements Disposable {
  readonly #input: NodeJS.ReadStream;
  readonly #out: NodeJS.WriteStream;
  readonly #onKey: (key: Key) => void;
  #listening: Disposable | undefined;
  readonly #onExit = (): void => this.hold();

  constructor(input: NodeJS.ReadStream, out: NodeJS.WriteStream, onKey: (key: Key) => void) {
    this.#input = input;
    this.#out = out;
    this.#onKey = onKey;
    process.once("exit", this.#onExit);
    // A signal reports a closed terminal.
    input.on("error", () => {});
  }

  /** Starts reading keys, until `hold`. */
  release(): void {
    if (this.#listening !== undefined) return;
    this.#setRaw(true);
    this.#write(PASTE_ON);
    this.#listening = listenForKeys(this.#input, this.#onKey);
    this.#input.resume();
  }

  /** Stops reading keys, so that a prompt can. */
  hold(): void {
    if (this.#listening === undefined) return;
    this.#listening[Symbol.dispose]();
    this.#listening = undefined;
    this.#input.pause();
    this.#write(RESTORED);
    this.#setRaw(false);
  }

  [Symbol.dispose](): void {
    this.hold();
    process.off("exit", this.#onExit);
  }

  /** Fails if the terminal was closed, which is ignored. */
  #setRaw(isRaw: boolean): void {
    try {
      this.#input.setRawMode(isRaw);
    } catch {}
  }

  #write(text: string): void {
    if (this.#out.errored === null) this.#out.write(text);
  }
}
