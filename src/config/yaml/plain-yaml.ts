/**
 * Reads the YAML that long files mostly use: block mappings and lists, one-line values, and literal blocks. It is many
 * times faster than a full parser. Any other YAML is left to the full parser.
 */
export interface PlainYaml {
  readonly value: unknown;
  /** The lines that list items start on, from 1. */
  readonly lines: ReadonlyMap<readonly unknown[], readonly number[]>;
}

/** Undefined if the text contains anything that is not plain. */
export function readPlainYaml(text: string): PlainYaml | undefined {
  if (NEVER_PLAIN.test(text)) return undefined;
  const reader = new Reader(text);
  try {
    return { value: reader.document(), lines: reader.lines };
  } catch (thrown) {
    if (thrown === NOT_PLAIN) return undefined;
    throw thrown;
  }
}

/** Tabs, other line endings, byte order marks, document markers and directives. */
// eslint-disable-next-line no-control-regex
const NEVER_PLAIN = /[\0-\x09\x0B-\x1F\x7F-\x9F\u2028\u2029\uFEFF\uD800-\uDFFF]|^(?:---|\.\.\.|%)/m;
const NOT_PLAIN = new Error("not plain");

const CONTENT = /^( *)(?:#.*|(\S.*))?$/;
const KEY = /([A-Za-z$][\w$./-]*):(?: +|$)/y;
const DOUBLE_QUOTED = /"(?:[^"\\]|\\.)*"/y;
const SINGLE_QUOTED = /'((?:[^']|'')*)'/y;
/** Its first character has no other meaning anywhere. */
const PLAIN = /^(?:[\p{L}\p{N}$(/\\^+=~_.;<]|-(?=[\w.]))/u;
const IN_FLOW = /[^,[\]{}]*/y;
const END = /^ *(?: #.*)?$/;
const NOT_TEXT = /^(?:~|null|true|false)$/i;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/;
const LIKE_A_NUMBER = /^[-+.]?[\d.][\dA-Fa-foOxX.+_-]*$|^[-+]?\.(?:inf|nan)$/i;

/** For blocks, and for brackets on a line. Together they stay below the full parser's limit. */
const MAX_DEPTH = 30;

function notPlain(): never {
  throw NOT_PLAIN;
}

class Reader {
  readonly lines = new Map<readonly unknown[], readonly number[]>();
  readonly #lines: readonly string[];
  /** The next line, its indentation and its content; at the end of the text the indentation is -1. */
  #at = -1;
  #indent = -1;
  #content = "";
  #depth = 0;

  constructor(text: string) {
    this.#lines = text.split("\n");
    this.#next();
  }

  document(): unknown {
    const value = this.#indent === 0 ? this.#block() : notPlain();
    if (!this.#isOver()) notPlain();
    return value;
  }

  #isOver(): boolean {
    return this.#at >= this.#lines.length;
  }

  #next(): void {
    while (++this.#at < this.#lines.length) {
      const match = CONTENT.exec(this.#lines[this.#at] ?? "") ?? notPlain();
      if (match[2] === undefined) continue;
      this.#indent = match[1]?.length ?? 0;
      this.#content = match[2].trimEnd();
      return;
    }
    this.#indent = -1;
  }

  /** A mapping or a list, from the next line on. */
  #block(): unknown {
    return this.#isItem() ? this.#list(this.#indent) : this.#mapping(this.#indent);
  }

  #isItem(): boolean {
    return this.#content.startsWith("- ") || this.#content === "-";
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = [];
    const lines: number[] = [];
    if (++this.#depth > MAX_DEPTH) notPlain();
    while (this.#indent === indent && this.#isItem()) {
      lines.push(this.#at + 1);
      list.push(this.#item(indent));
    }
    this.lines.set(list, lines);
    if (this.#indent > indent) notPlain();
    this.#depth -= 1;
    return list;
  }

  #item(indent: number): unknown {
    const rest = this.#content.slice(1).trimStart();
    const within = indent + this.#content.length - rest.length;
    if (rest === "" || rest.startsWith("#") || rest.startsWith("- ") || rest === "-") notPlain();
    KEY.lastIndex = 0;
    if (!KEY.test(rest)) return this.#value(rest, indent);
    // The text after the dash is the first line of a mapping.
    this.#indent = within;
    this.#content = rest;
    return this.#mapping(within);
  }

  #mapping(indent: number): Record<string, unknown> {
    const mapping: Record<string, unknown> = {};
    if (++this.#depth > MAX_DEPTH) notPlain();
    while (this.#indent === indent && !this.#isItem()) {
      const content = this.#content;
      KEY.lastIndex = 0;
      const key = keyOf(KEY.exec(content)?.[1], mapping);
      const rest = content.slice(KEY.lastIndex);
      mapping[key] = rest === "" || rest.startsWith("#") ? this.#below(indent) : this.#value(rest, indent);
    }
    if (this.#indent > indent) notPlain();
    this.#depth -= 1;
    return mapping;
  }

  /** The value of a key without one on its line. */
  #below(indent: number): unknown {
    this.#next();
    if (this.#indent > indent) return this.#block();
    return this.#indent === indent && this.#isItem() ? this.#list(indent) : null;
  }

  #value(text: string, indent: number): unknown {
    if (text === "|") return this.#literal(indent);
    if (text.split(/[[{]/, MAX_DEPTH).length === MAX_DEPTH) notPlain();
    const [value, end] = valueAt(text, 0, false);
    if (!END.test(text.slice(end))) notPlain();
    this.#next();
    return value;
  }

  #literal(indent: number): string {
    const from = this.#at + 1;
    let to = from;
    while (to < this.#lines.length && /^ *$/.test(this.#lines[to] ?? "")) to += 1;
    const depth = /^ */.exec(this.#lines[to] ?? "")?.[0].length ?? 0;
    // Blank lines before the first one, and longer blank lines, have special rules.
    if (to !== from || depth <= indent) notPlain();
    const isWithin = (line: string): boolean => line === "" || line.startsWith(" ".repeat(depth));
    while (to < this.#lines.length && isWithin(this.#lines[to] ?? "")) to += 1;
    const text = this.#lines.slice(from, to).map((line) => line.slice(depth));
    if (text.some((line) => line !== "" && line.trim() === "")) notPlain();
    while (text.at(-1) === "") text.pop();
    this.#at = to - 1;
    this.#next();
    return `${text.join("\n")}\n`;
  }
}

/** The full parser reports duplicate keys and those that are not names. */
function keyOf(key: string | undefined, mapping: Readonly<Record<string, unknown>>): string {
  if (key === undefined || key === "__proto__" || Object.hasOwn(mapping, key) || NOT_TEXT.test(key)) notPlain();
  return key;
}

/** A one-line value, and where it ends. `isFlow`: within brackets. */
function valueAt(text: string, from: number, isFlow: boolean): readonly [value: unknown, end: number] {
  switch (text[from]) {
    case '"':
    case "'":
      return quotedAt(text, from);
    case "[":
      return listAt(text, from);
    case "{":
      return mappingAt(text, from);
    default:
      return plainAt(text, from, isFlow);
  }
}

function quotedAt(text: string, from: number): readonly [string, number] {
  if (text[from] === '"') {
    DOUBLE_QUOTED.lastIndex = from;
    const [found] = DOUBLE_QUOTED.exec(text) ?? notPlain();
    try {
      return [JSON.parse(found) as string, DOUBLE_QUOTED.lastIndex];
    } catch {
      return notPlain();
    }
  }
  SINGLE_QUOTED.lastIndex = from;
  const [, inside = ""] = SINGLE_QUOTED.exec(text) ?? notPlain();
  return [inside.replaceAll("''", "'"), SINGLE_QUOTED.lastIndex];
}

function plainAt(text: string, from: number, isFlow: boolean): readonly [unknown, number] {
  IN_FLOW.lastIndex = from;
  const all = isFlow ? (IN_FLOW.exec(text)?.[0] ?? "") : text.slice(from);
  const comment = all.indexOf(" #");
  const words = (comment === -1 ? all : all.slice(0, comment)).trimEnd();
  if (!PLAIN.test(words) || /:(?: |$)/.test(words) || (isFlow && comment !== -1)) notPlain();
  return [scalarOf(words), from + words.length];
}

function scalarOf(words: string): unknown {
  if (words === "true") return true;
  if (words === "false") return false;
  if (words === "null" || words === "~") return null;
  if (NUMBER.test(words)) return Number(words);
  return NOT_TEXT.test(words) || LIKE_A_NUMBER.test(words) ? notPlain() : words;
}

function listAt(text: string, from: number): readonly [unknown[], number] {
  const list: unknown[] = [];
  let at = skip(text, from + 1);
  if (text[at] === "]") return [list, at + 1];
  for (;;) {
    const [value, end] = valueAt(text, at, true);
    list.push(value);
    at = skip(text, end);
    if (text[at] === "]") return [list, at + 1];
    at = text[at] === "," ? skip(text, at + 1) : notPlain();
  }
}

function mappingAt(text: string, from: number): readonly [Record<string, unknown>, number] {
  const mapping: Record<string, unknown> = {};
  let at = skip(text, from + 1);
  if (text[at] === "}") return [mapping, at + 1];
  for (;;) {
    KEY.lastIndex = at;
    const key = keyOf(KEY.exec(text)?.[1], mapping);
    const [value, end] = valueAt(text, KEY.lastIndex, true);
    mapping[key] = value;
    at = skip(text, end);
    if (text[at] === "}") return [mapping, at + 1];
    at = text[at] === "," ? skip(text, at + 1) : notPlain();
  }
}

function skip(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at += 1;
  return at;
}
