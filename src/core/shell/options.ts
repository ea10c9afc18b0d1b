import { quoteExcerpt, type At, type ReadWord } from "./reading.ts";

/** The options that a program takes before its first operand. Options not listed here are not understood. */
export interface Options {
  /** Letters of short options without a value. */
  readonly flags?: string;
  /** Letters of short options with a value, attached or in the next word. */
  readonly values?: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  /** `-5` is an option. */
  readonly numbers?: boolean;
}

export interface Option {
  /** `-n` or `--name`. */
  readonly name: string;
  readonly value: ReadWord | undefined;
}

export interface Scanned {
  readonly options: readonly Option[];
  /** The index of the first word that is not an option. */
  readonly next: number;
}

/** Scans the options from `start` on; undefined, and noted as unclear, if one of them is not understood. */
export function scanOptions(words: readonly ReadWord[], start: number, spec: Options, at: At): Scanned | undefined {
  const program = words[0]?.text ?? "";
  const options: Option[] = [];
  let next = start;
  for (;;) {
    const word = words[next];
    if (word === undefined) return { options, next };
    if (mayBeOption(word)) return refuse(program, word, at);
    const { text } = word;
    // A dynamic word with a known start other than a dash is an operand.
    if (word.dynamic || !text.startsWith("-") || text === "-") return { options, next };
    next += 1;
    if (text === "--") return { options, next };
    if (spec.numbers === true && /^--?\+?[0-9]+$/.test(text)) continue;
    const taken = text.startsWith("--") ? takeLong(text, spec) : takeShort(text, spec);
    if (taken === undefined) return refuse(program, word, at);
    options.push(...taken.flags.map((name) => ({ name, value: undefined })));
    if (taken.last === undefined) continue;
    if (taken.last.value !== undefined) {
      options.push({ name: taken.last.name, value: taken.last.value });
      continue;
    }
    const value = words[next];
    if (value === undefined || value.splits) return refuse(program, word, at);
    options.push({ name: taken.last.name, value });
    next += 1;
  }
}

/** Whether a word with unknown text could turn out to be an option, or several words. */
function mayBeOption(word: ReadWord): boolean {
  return word.dynamic && (word.splits || word.prefix === "" || word.prefix.startsWith("-"));
}

interface Taken {
  readonly flags: readonly string[];
  /** An option that takes a value; if it is not here, it is the next word. */
  readonly last?: { readonly name: string; readonly value: ReadWord | undefined };
}

function takeLong(text: string, spec: Options): Taken | undefined {
  const equals = text.indexOf("=");
  const name = equals < 0 ? text.slice(2) : text.slice(2, equals);
  if (spec.longValues?.includes(name) === true)
    return {
      flags: [],
      last: { name: `--${name}`, value: equals < 0 ? undefined : literalWord(text.slice(equals + 1)) },
    };
  return spec.longFlags?.includes(name) === true ? { flags: [`--${name}`] } : undefined;
}

function takeShort(text: string, spec: Options): Taken | undefined {
  const flags: string[] = [];
  for (let index = 1; index < text.length; index++) {
    const letter = text.charAt(index);
    if (spec.values?.includes(letter) === true) {
      const rest = text.slice(index + 1);
      return { flags, last: { name: `-${letter}`, value: rest === "" ? undefined : literalWord(rest) } };
    }
    if (spec.flags?.includes(letter) !== true) return undefined;
    flags.push(`-${letter}`);
  }
  return { flags };
}

function literalWord(text: string): ReadWord {
  return { text, dynamic: false, splits: false, prefix: text, source: text };
}

function refuse(program: string, word: ReadWord, at: At): undefined {
  at.notes.unclear.add(`It is unclear what ${quoteExcerpt(program)} runs, because of ${quoteExcerpt(word.source)}.`);
  return undefined;
}
