/** The maximum nesting depth of a body. */
export const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/**
 * Scans the bytes of possible JSON as they arrive. Parsing a megabyte of empty lists takes a hundred times its size,
 * and every schema error as much again, so bodies that are too complex are rejected before either.
 */
export class JsonScan {
  readonly #maxValues: number;
  #depth = 0;
  /** Lists, objects, and their items. */
  #values = 0;
  #isInText = false;
  /** The next byte is escaped. */
  #isEscaped = false;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  /** Returns the limit that was exceeded; undefined if none was. */
  add(bytes: Uint8Array): "depth" | "values" | undefined {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInText = false;
        continue;
      }
      if (byte === QUOTE) this.#isInText = true;
      else if (byte === COMMA) this.#values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#values += 1;
        this.#depth += 1;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth -= 1;
      if (this.#depth > MAX_DEPTH) return "depth";
      if (this.#values > this.#maxValues) return "values";
    }
    return undefined;
  }
}
