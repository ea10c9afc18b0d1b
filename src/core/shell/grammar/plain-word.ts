import type { ShellCursor } from "./cursor.ts";

/** A word of the grammar. */
export interface PlainWord {
  /** As written. */
  readonly source: string;
  /** Its value; undefined if it is only known when it runs. */
  readonly value: string | undefined;
  /** No quotes, no backslashes, nothing to expand: it can be a keyword, an assignment or a descriptor. */
  readonly isBare: boolean;
}

/** Reads the content of `$(` … `)`. Passed in, because commands consist of words. */
export type ReadSubstitution = (cursor: ShellCursor) => void;

const BARE = /[A-Za-z0-9_./:=@%+,-]+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const PARAMETER = /[0-9?!$#@*]/;
/** A glob class: plain characters, optionally negated. */
const CLASS = /\[[!^]?[A-Za-z0-9_.-]+\]/y;
/** Alternatives or a range, without anything nested or quoted. */
const BRACES = /\{[A-Za-z0-9_./:@%+-]*(?:,[A-Za-z0-9_./:@%+-]*)+\}|\{[A-Za-z0-9]+\.\.[A-Za-z0-9]+\}/y;
/** Braces that bash leaves unchanged: `{}` of find, `stash@{0}`. */
const LITERAL_BRACES = /\{[A-Za-z0-9_]*\}/y;
const ENDS_WORD = /[\s;&|<>()]/;
const PRINTABLE = /[!-~ ]/;
/** Characters that bash removes a backslash from in double quotes. */
const ESCAPED_IN_QUOTES = '$`"\\';
/** Before these, a dollar in double quotes is literal. */
const AFTER_LITERAL_DOLLAR = '" |)/';

/** Reads one word. The cursor is at its first character. */
export function readPlainWord(cursor: ShellCursor, readSubstitution: ReadSubstitution): PlainWord {
  return new WordReader(cursor, readSubstitution).read();
}

class WordReader {
  readonly #cursor: ShellCursor;
  readonly #substitution: ReadSubstitution;
  readonly #start: number;
  #value = "";
  #isDynamic = false;
  #isBare = true;

  constructor(cursor: ShellCursor, readSubstitution: ReadSubstitution) {
    this.#cursor = cursor;
    this.#substitution = readSubstitution;
    this.#start = cursor.at;
  }

  read(): PlainWord {
    const cursor = this.#cursor;
    while (!cursor.isAtEnd && !ENDS_WORD.test(cursor.peek())) this.#piece();
    if (cursor.at === this.#start) cursor.refuse(cursor.isAtEnd ? "a missing word" : `\`${cursor.peek()}\` here`);
    const source = cursor.text.slice(this.#start, cursor.at);
    return { source, value: this.#isDynamic ? undefined : this.#value, isBare: this.#isBare && !this.#isDynamic };
  }

  #piece(): void {
    const cursor = this.#cursor;
    const bare = cursor.takeMatch(BARE);
    if (bare !== "") {
      this.#value += bare;
      return;
    }
    switch (cursor.peek()) {
      case "'":
        return this.#single();
      case '"':
        return this.#double();
      case "\\":
        return this.#readEscape();
      case "$":
        return this.#dollar(false);
      case "*":
      case "?":
        return this.#glob(cursor.takeMatch(/[*?]+/y));
      case "[":
        return this.#bracket();
      case "]":
        if (cursor.at !== this.#start) cursor.refuse("`]` in a word");
        return this.#literal("]");
      case "{":
        return this.#braces();
      case "~":
        return this.#tilde();
      case "#":
        if (cursor.at === this.#start || !/[\w./:=@%+,-]/.test(cursor.text.charAt(cursor.at - 1)))
          cursor.refuse("`#` here");
        return this.#literal("#");
      case "^":
        if (cursor.at === this.#start) cursor.refuse("`^` at the start of a word");
        return this.#literal("^");
      case "!":
        return this.#bang();
      case "`":
        return cursor.refuse("backquotes");
      case "}":
        return cursor.refuse("`}` here");
      default:
        return cursor.refuse(
          `${JSON.stringify(String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0))} outside quotes`,
        );
    }
  }

  #literal(text: string): void {
    this.#cursor.take(text);
    this.#value += text;
  }

  #open(): void {
    this.#isDynamic = true;
  }

  #single(): void {
    const cursor = this.#cursor;
    const end = cursor.text.indexOf("'", cursor.at + 1);
    if (end < 0) cursor.refuse("an open quote");
    this.#value += cursor.text.slice(cursor.at + 1, end);
    this.#isBare = false;
    cursor.at = end + 1;
  }

  #double(): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    this.#isBare = false;
    cursor.at += 1;
    for (;;) {
      if (cursor.isAtEnd) cursor.refuse("an open quote", start);
      const character = cursor.peek();
      const next = cursor.peek(1);
      if (character === '"') break;
      if (character === "`") cursor.refuse("backquotes");
      if (character === "$") this.#dollar(true);
      else if (character === "\\") {
        if (!PRINTABLE.test(next)) cursor.refuse("this use of a backslash");
        this.#value += ESCAPED_IN_QUOTES.includes(next) ? next : character + next;
        cursor.at += 2;
      } else if (character === "!" && !/[\s=("]/.test(next)) cursor.refuse("`!` in double quotes");
      else this.#literal(character);
    }
    cursor.at += 1;
  }

  #readEscape(): void {
    const next = this.#cursor.peek(1);
    if (!PRINTABLE.test(next)) this.#cursor.refuse("this use of a backslash");
    this.#isBare = false;
    this.#value += next;
    this.#cursor.at += 2;
  }

  #dollar(inQuotes: boolean): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    const next = cursor.peek(1);
    if (inQuotes && AFTER_LITERAL_DOLLAR.includes(next)) return this.#literal("$");
    cursor.at += 1;
    if (cursor.startsWith("((")) cursor.refuse("arithmetic `$((…))`", start);
    else if (cursor.take("(")) {
      cursor.within(() => this.#substitution(cursor));
      if (!cursor.take(")")) cursor.refuse("an open `$(`", start);
    } else if (cursor.take("{")) {
      const name = cursor.takeMatch(NAME);
      if (name === "" || !cursor.take("}")) cursor.refuse(`\`\${${name}${cursor.peek()}…}\``, start);
    } else if (cursor.takeMatch(NAME) === "") {
      if (!PARAMETER.test(next)) cursor.refuse(`\`$${next}\``, start);
      cursor.at += 1;
    }
    this.#open();
  }

  #glob(taken: string): void {
    this.#value += taken;
    this.#open();
  }

  /** `[` and `]` alone are the command; in a word they are a simple class. */
  #bracket(): void {
    const cursor = this.#cursor;
    const next = cursor.peek(1);
    if (cursor.at === this.#start && (next === "" || ENDS_WORD.test(next))) return this.#literal("[");
    if (cursor.takeMatch(CLASS) === "") cursor.refuse("`[` in a word, except for a class such as `[a-z]`");
    this.#open();
  }

  #braces(): void {
    const cursor = this.#cursor;
    if (cursor.takeMatch(BRACES) !== "") return this.#open();
    const literal = cursor.takeMatch(LITERAL_BRACES);
    if (literal === "") cursor.refuse("`{` in a word, except for a list such as `{a,b}`");
    this.#value += literal;
    this.#isBare = false;
  }

  /** The home directory; elsewhere in a word, as in `HEAD~1`, a plain character. */
  #tilde(): void {
    const cursor = this.#cursor;
    const before = cursor.text.charAt(cursor.at - 1);
    const isFirst = cursor.at === this.#start;
    cursor.at += 1;
    const next = cursor.peek();
    if (!isFirst && /[A-Za-z0-9^]/.test(before)) {
      this.#value += "~";
      return;
    }
    if (!(isFirst || before === "=") || !(next === "" || next === "/" || ENDS_WORD.test(next)))
      cursor.refuse("`~` other than `~/`");
    this.#open();
  }

  #bang(): void {
    const next = this.#cursor.peek(1);
    if (next !== "" && !ENDS_WORD.test(next)) this.#cursor.refuse("`!` in a word");
    this.#literal("!");
    if (next === "(") this.#cursor.refuse("the pattern `!(…)`");
  }
}
