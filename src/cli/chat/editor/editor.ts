import { withoutControl } from "../../../words/hidden-text.ts";
import type { Key } from "./key.ts";
import { lineEnd, lineStart, nextBorder, previousBorder, wordEnd, wordStart } from "../view/text-positions.ts";

/** The effect of a key. */
export type Pressed = "ignored" | "edited" | "submitted";

/** Provides earlier inputs. */
export interface Earlier {
  /** 0 is the newest; undefined if there are not that many. */
  at(index: number): string | undefined;
}

/** The input of a chat: its text and cursor. Independent of the terminal. */
export class Editor {
  readonly #history: Earlier;
  /** Converts pasted text before it is inserted. */
  readonly #onPaste: (text: string) => string;
  #text = "";
  #cursor = 0;
  /** Which earlier input is shown; undefined for a new one. */
  #index: number | undefined;
  #draft = "";
  #paste: string[] | undefined;

  constructor(history: Earlier, { onPaste = (text) => text }: { readonly onPaste?: (text: string) => string } = {}) {
    this.#history = history;
    this.#onPaste = onPaste;
  }

  get text(): string {
    return this.#text;
  }

  /** An offset in the text. */
  get cursor(): number {
    return this.#cursor;
  }

  set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }

  clear(): void {
    this.set("");
    this.#index = undefined;
    this.#paste = undefined;
  }

  press(key: Key): Pressed {
    if (this.#paste !== undefined) return this.#takePaste(this.#paste, key);
    if (key.name === "paste-start") {
      this.#paste = [];
      return "edited";
    }
    return this.#isEnter(key) ? this.#enter() : this.#edit(key);
  }

  /** Enter without Alt, which inserts a line break. Keys typed before the chat opened are named `enter`. */
  #isEnter({ name, meta }: Key): boolean {
    return (name === "return" || name === "enter") && !meta;
  }

  #enter(): Pressed {
    if (!this.#text.endsWith("\\") || this.#cursor !== this.#text.length) return "submitted";
    this.#text = this.#text.slice(0, -1);
    this.#cursor = this.#text.length;
    return this.#insert("\n");
  }

  /** Everything until the end of the paste is text, including Enter. */
  #takePaste(parts: string[], { name, text }: Key): Pressed {
    if (name !== "paste-end") {
      parts.push(text);
      return "ignored";
    }
    this.#paste = undefined;
    return this.#insert(this.#onPaste(withoutControl(parts.join("").replaceAll(/\r\n?/g, "\n"))));
  }

  #edit(key: Key): Pressed {
    const { name = "", ctrl, meta, text } = key;
    const position = this.#positionFor(name, ctrl || meta);
    if (position !== undefined) return this.#move(position);
    const deletion = ctrl ? DELETE_WITH_CTRL[name] : undefined;
    if (deletion !== undefined) return this.#delete(deletion);
    switch (name) {
      case "backspace":
        return this.#delete(meta || ctrl ? "word" : "before");
      case "delete":
        return this.#delete("after");
      case "up":
        return this.#vertical(-1);
      case "down":
        return this.#vertical(1);
      case "return":
      case "enter":
        return this.#insert("\n");
      default:
        return ctrl || meta || text === "" || withoutControl(text) !== text ? "ignored" : this.#insert(text);
    }
  }

  /** The new position for a key that moves the cursor. */
  #positionFor(name: string, isBroad: boolean): number | undefined {
    const at = this.#cursor;
    const where: Readonly<Record<string, () => number>> = {
      left: () => (isBroad ? wordStart(this.#text, at) : previousBorder(this.#text, at)),
      right: () => (isBroad ? wordEnd(this.#text, at) : nextBorder(this.#text, at)),
      home: () => lineStart(this.#text, at),
      end: () => lineEnd(this.#text, at),
      ...(isBroad && {
        a: () => lineStart(this.#text, at),
        e: () => lineEnd(this.#text, at),
        b: () => wordStart(this.#text, at),
        f: () => wordEnd(this.#text, at),
      }),
    };
    return where[name]?.();
  }

  #move(to: number): Pressed {
    this.#cursor = to;
    return "edited";
  }

  #insert(text: string): Pressed {
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor);
    this.#cursor += text.length;
    return "edited";
  }

  #delete(what: Deletion): Pressed {
    const [from, to] = RANGES[what](this.#text, this.#cursor);
    this.#text = this.#text.slice(0, from) + this.#text.slice(to);
    this.#cursor = from;
    return "edited";
  }

  /** Moves between lines; at the first and last line, recalls earlier inputs. */
  #vertical(direction: -1 | 1): Pressed {
    const start = lineStart(this.#text, this.#cursor);
    const end = lineEnd(this.#text, this.#cursor);
    if (direction === -1 ? start === 0 : end === this.#text.length) return this.#recall(direction);
    const column = this.#cursor - start;
    const target = direction === -1 ? lineStart(this.#text, start - 1) : end + 1;
    return this.#move(Math.min(target + column, lineEnd(this.#text, target)));
  }

  #recall(direction: -1 | 1): Pressed {
    const index = (this.#index ?? -1) - direction;
    const text = index < 0 ? this.#draft : this.#history.at(index);
    if (text === undefined || (index < 0 && this.#index === undefined)) return "ignored";
    if (this.#index === undefined) this.#draft = this.#text;
    this.#index = index < 0 ? undefined : index;
    this.set(text);
    return "edited";
  }
}

type Deletion = "before" | "after" | "word" | "start" | "end";

const DELETE_WITH_CTRL: Readonly<Record<string, Deletion>> = {
  h: "before",
  w: "word",
  u: "start",
  k: "end",
  d: "after",
};

const RANGES: Readonly<Record<Deletion, (text: string, at: number) => readonly [number, number]>> = {
  before: (text, at) => [previousBorder(text, at), at],
  after: (text, at) => [at, nextBorder(text, at)],
  word: (text, at) => [wordStart(text, at), at],
  start: (text, at) => [lineStart(text, at), at],
  end: (text, at) => [at, lineEnd(text, at)],
};
