/**
 * Makes regular expressions of users safe to run on any text. JavaScript's engine tries every way in which a pattern
 * can match from each position, which can take exponential time. Here those ways are counted beforehand, with `*`, `+`
 * and `{n,}` bounded, and a pattern with too many is refused. So the time is at most the length of the text times
 * MAX_WAYS.
 */

/** The bound for `*`, `+` and `{n,}`: longer than any secret that is one word. */
const UNBOUNDED = 1_024;
const MAX_WAYS = 5_000;
const MAX_LENGTH = 500;

export class PatternError extends Error {}

interface Part {
  /** The source for the engine. */
  readonly source: string;
  /** The maximum number of ways it can match. */
  readonly ways: number;
  /** The length of its shortest match. */
  readonly shortest: number;
}

const NOTHING: Part = { source: "", ways: 1, shortest: 0 };
const ESCAPE = /\\(?:[dDwWsSbBtnrfv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^\w\s])/y;
const CLASS = /\[\^?(?:\\(?:[dDwWsStnrfv\-\]\\^/.+*?()[{}|$]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})|[^\]\\])+\]/y;
const QUANTIFIER = /(?:([*+?])|\{(\d{1,4})(,(\d{0,4}))?\})(\??)/y;

/** Compiles a pattern, or throws a PatternError that says what is wrong and at which character. */
export function safePattern(pattern: string): RegExp {
  if (pattern.length > MAX_LENGTH) throw new PatternError(`expected at most ${MAX_LENGTH} characters`);
  const { source, ways, shortest } = new Reader(pattern).whole();
  if (shortest === 0) throw new PatternError("expected a pattern that does not match an empty text");
  if (ways > MAX_WAYS)
    throw new PatternError(
      "the pattern could take too long on some texts; use bounds such as {1,30} instead of * and +, and don't nest repetitions",
    );
  try {
    return new RegExp(source, "g");
  } catch (thrown) {
    throw new PatternError(`expected a regular expression (${thrown instanceof Error ? thrown.message : "not valid"})`);
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Part {
    const part = this.#alternatives();
    if (this.#at < this.#text.length) throw this.#wrong("a ) without its (");
    return part;
  }

  #alternatives(): Part {
    let all = this.#sequence();
    while (this.#take("|")) {
      const next = this.#sequence();
      all = {
        source: `${all.source}|${next.source}`,
        ways: all.ways + next.ways,
        shortest: Math.min(all.shortest, next.shortest),
      };
    }
    return all;
  }

  #sequence(): Part {
    let all = NOTHING;
    while (this.#at < this.#text.length && !"|)".includes(this.#peek())) {
      const next = this.#readQuantifier(this.#atom());
      all = {
        source: all.source + next.source,
        ways: all.ways * next.ways,
        shortest: all.shortest + next.shortest,
      };
    }
    return all;
  }

  #atom(): Part {
    const character = this.#peek();
    if (character === "(") return this.#group();
    if (character === "[") return { source: this.#match(CLASS, "a class such as [a-z0-9]"), ways: 1, shortest: 1 };
    if (character === "\\") {
      const source = this.#match(ESCAPE, "an escape such as \\d, \\w, \\s, \\b or \\. (no \\1, no \\p)");
      return { source, ways: 1, shortest: /^\\[bB]$/.test(source) ? 0 : 1 };
    }
    if ("*+?{".includes(character)) throw this.#wrong("something to repeat before this");
    this.#at += 1;
    if (character === "^" || character === "$") return { source: character, ways: 1, shortest: 0 };
    return { source: character === "}" || character === "]" ? `\\${character}` : character, ways: 1, shortest: 1 };
  }

  #group(): Part {
    this.#at += 1;
    if (this.#take("?") && !this.#take(":")) throw this.#wrong("( or (?: (no look-around, no names, no flags)");
    const inner = this.#alternatives();
    if (!this.#take(")")) throw this.#wrong("a closing )");
    return { ...inner, source: `(?:${inner.source})` };
  }

  #readQuantifier(part: Part): Part {
    QUANTIFIER.lastIndex = this.#at;
    const match = QUANTIFIER.exec(this.#text);
    if (match === null) return part;
    const [written, sign, from, range, to, lazy = ""] = match;
    const least = sign === undefined ? Number(from) : sign === "+" ? 1 : 0;
    const most =
      sign === "?" ? 1 : sign !== undefined || to === "" ? UNBOUNDED : Number(range === undefined ? from : to);
    if (least > most || most > UNBOUNDED)
      throw this.#wrong(`a repetition of at most ${UNBOUNDED}, the smaller number first`);
    this.#at += written.length;
    const source = `${part.source}{${least},${most}}${lazy}`;
    return { source, ways: waysToRepeat(part.ways, { least, most }), shortest: part.shortest * least };
  }

  #match(pattern: RegExp, expected: string): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw this.#wrong(expected);
    this.#at += found.length;
    return found;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  #wrong(expected: string): PatternError {
    return new PatternError(`character ${this.#at + 1}: expected ${expected}`);
  }
}

/** Every number of repetitions, each with every choice inside. Stops counting once it exceeds the limit. */
function waysToRepeat(ways: number, { least, most }: { least: number; most: number }): number {
  let total = 0;
  for (let times = least; times <= most && total <= MAX_WAYS; times += 1) total += ways ** times;
  return total;
}
