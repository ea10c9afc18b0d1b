import { type Key, listenForKeys } from "./key.ts";

const PASTE_ON = "\u001B[?2004h";
/** Also shows the cursor and wraps lines again, however a frame was cut off. */
const RESTORED = "\u001B[?2004l\u001B[?7h\u001B[?25h\u001B[?2026l";

/** The keyboard of a chat, key by key. However the program ends, the terminal is left as it was found. */
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
    // A terminal that goes away is told of by a signal.
    input.on("error", () => {});
  }

  /** Takes the keyboard, until `hold`. */
  release(): void {
    if (this.#listening !== undefined) return;
    this.#setRaw(true);
    this.#write(PASTE_ON);
    this.#listening = listenForKeys(this.#input, this.#onKey);
    this.#input.resume();
  }

  /** Leaves the keyboard to somebody else. */
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

  /** A terminal that is gone has no mode any more. */
  #setRaw(isRaw: boolean): void {
    try {
      this.#input.setRawMode(isRaw);
    } catch {}
  }

  #write(text: string): void {
    if (this.#out.errored === null) this.#out.write(text);
  }
}
