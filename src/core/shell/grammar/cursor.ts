/** Why a line is outside the grammar. Thrown where it is found, caught where parsing starts. */
export class GrammarRefusal extends Error {
  override readonly name = "Refusal";
}

const MAX_DEPTH = 24;

/** A position in a line. Characters are read only here. */
export class ShellCursor {
  readonly text: string;
  at = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The character at a distance; empty beyond the end. */
  peek(distance = 0): string {
    return this.text.charAt(this.at + distance);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** Moves past `text` if it is next. */
  take(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Moves past what a sticky pattern matches here; empty if it does not match. */
  takeMatch(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }

  /** Reads something nested. */
  within<T>(read: () => T): T {
    if (this.#depth >= MAX_DEPTH) this.refuse("deep nesting");
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  /** `what` names the construct, as in "process substitution `<(`". */
  refuse(what: string, at = this.at): never {
    const place = at >= this.text.length ? "at the end" : `at character ${at + 1}`;
    throw new GrammarRefusal(`Allow rules do not support ${what} (${place}).`);
  }
}
