import type { ShellWord } from "../shell/read-commands.ts";
import type { ShellEffect } from "./subject.ts";
import { type Glob, globOf, matchesGlob, STAR, type Token } from "../paths/glob.ts";

/** A pattern for one simple command, word by word. */
export interface CommandPattern {
  readonly words: readonly WordPattern[];
  /** The last component of the program's path: restricting rules compare only this. */
  readonly program: Glob | undefined;
}

/** One word; any one word; any number of words, including none. */
type WordPattern = Glob | typeof ONE_WORD | typeof WORDS;

const ONE_WORD = "one word";
const WORDS = "words";

/** Shell operators: a pattern that contains one would never match a command. */
const OPERATORS: Readonly<Record<string, string>> = {
  ";": "`;`",
  "|": "`|`",
  "&": "`&`",
  "<": "`<`",
  ">": "`>`",
  "\n": "a line break",
  "`": "a backquote",
  $: "`$`",
};

/** Returns a problem instead, as the end of a sentence, if the pattern is not valid. */
export function parseCommandPattern(text: string): CommandPattern | string {
  // Claude's settings also write `npm run *` as `npm run:*`.
  const words = split(text.replace(/:\*$/, " *"));
  if (typeof words === "string") return words;
  const patterns = words.flatMap((tokens, index): WordPattern[] => {
    if (tokens.length !== 1 || tokens[0] !== STAR) return [globOf(tokens)];
    return index === words.length - 1 ? [WORDS] : [ONE_WORD, WORDS];
  });
  const [first] = patterns;
  if (first === undefined) return "it contains no command";
  if (typeof first === "string") return { words: patterns, program: undefined };
  if (first.literal !== undefined && /^\w+\+?=/.test(first.literal))
    return "it starts with an assignment; rules cover the command after it";
  return { words: patterns, program: globOf(lastName(first.tokens)) };
}

function lastName(tokens: readonly Token[]): readonly Token[] {
  return tokens.slice(tokens.lastIndexOf("/") + 1);
}

/** Splits words like the shell. Only a star outside quotes is a wildcard. */
function split(text: string): Token[][] | string {
  const words: Token[][] = [];
  let word: Token[] | undefined;
  let quote = "";
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    const next = characters[at + 1];
    if (character === quote) quote = "";
    else if (quote === "'") word?.push(character);
    else if (character === "\\" && next !== undefined && (quote === "" || '"\\$`'.includes(next))) {
      word = push(word, next);
      at++;
    } else if (quote === "" && (character === " " || character === "\t")) word = undefined;
    else if ((quote === "" || character === "$" || character === "`") && OPERATORS[character] !== undefined)
      return `it contains ${OPERATORS[character]}, but a pattern covers one simple command; write one rule for each command, and * for what varies`;
    else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      word ??= push(undefined);
    } else if (quote === "" && character === "*") {
      if (word?.at(-1) !== STAR) word = push(word, STAR);
    } else word = push(word, character);
  }
  return quote === "" ? words : `the closing ${quote} is missing`;

  function push(current: Token[] | undefined, ...tokens: Token[]): Token[] {
    const target = current ?? [];
    if (current === undefined) words.push(target);
    target.push(...tokens);
    return target;
  }
}

/** A command, prepared for matching with many patterns. */
export interface CommandWords {
  readonly words: readonly ShellWord[];
  /**
   * The program's names for restricting rules: its path, its base name, and that in lower case, because some file
   * systems find rm as RM. Empty if it is only known when it runs.
   */
  readonly names: readonly string[];
  /** Words that an allow rule must name, by index, with the prefix that the rule must have there. */
  readonly named: ReadonlyMap<number, string>;
}

export function commandOf(words: readonly ShellWord[], effects: readonly ShellEffect[] = []): CommandWords {
  // Of several in one word, the longest includes the others.
  const byLength = effects.toSorted((a, b) => a.written.length - b.written.length);
  const named = new Map(byLength.map(({ word, written }) => [word, written]));
  const [program] = words;
  if (program === undefined || program.dynamic) return { words, names: [], named };
  const name = program.text.slice(program.text.lastIndexOf("/") + 1);
  return { words, names: [...new Set([program.text, name, name.toLowerCase()])], named };
}

/**
 * Whether a command matches. A word that is only known when the command runs is covered only by a whole-word `*`;
 * `maybe` means that it could turn out to be what the pattern needs.
 */
export function matchCommand(
  { words: patterns, program }: CommandPattern,
  { words, names, named }: CommandWords,
  reading: "allow" | "restrict",
): "yes" | "maybe" | "no" {
  // Most rules are for other programs.
  if (words.length === 0 || (program?.literal !== undefined && names.length > 0 && !names.includes(program.literal)))
    return "no";
  const isWord: IsWord = (pattern, index) => {
    const word = words[index];
    if (word === undefined || word.dynamic) return false;
    if (matchesGlob(pattern, word.text)) return true;
    return index === 0 && reading === "restrict" && names.some((name) => program && matchesGlob(program, name));
  };
  // Words that are known on both sides must match.
  for (let index = 0; index < words.length; index++) {
    const pattern = patterns[index];
    if (typeof pattern === "string" || words[index]?.dynamic !== false) break;
    if (pattern === undefined || !isWord(pattern, index)) return "no";
  }
  const isNamed = (pattern: WordPattern, index: number): boolean => {
    const written = reading === "allow" ? named.get(index) : undefined;
    return written === undefined || (typeof pattern === "object" && beginsWith(pattern, written));
  };
  if (surely(patterns, words.length, isWord, isNamed)) return "yes";
  if (reading === "allow" || !words.some(({ dynamic }) => dynamic)) return "no";
  return possibly(patterns, words, isWord) ? "maybe" : "no";
}

type IsWord = (pattern: Glob, index: number) => boolean;

/** Whether every match of a pattern starts with a text. */
function beginsWith({ tokens }: Glob, text: string): boolean {
  return Array.from(text).every((character, index) => tokens[index] === character);
}

/** Follows all alternatives at once, because a star must not match a word that has to be named. */
function surely(
  patterns: readonly WordPattern[],
  count: number,
  isWord: IsWord,
  isNamed: (pattern: WordPattern, index: number) => boolean,
): boolean {
  let reached = skipOptionalWords(patterns, new Set([0]));
  for (let index = 0; index < count; index++) {
    const after = new Set<number>();
    for (const place of reached) {
      const pattern = patterns[place];
      if (pattern === undefined || !isNamed(pattern, index)) continue;
      if (pattern === WORDS) after.add(place);
      else if (pattern === ONE_WORD || isWord(pattern, index)) after.add(place + 1);
    }
    reached = skipOptionalWords(patterns, after);
  }
  return reached.has(patterns.length);
}

/** "Any number of words" includes none. */
function skipOptionalWords(patterns: readonly WordPattern[], places: ReadonlySet<number>): Set<number> {
  const all = new Set(places);
  for (const place of all) if (patterns[place] === WORDS) all.add(place + 1);
  return all;
}

/**
 * The same, where a dynamic word may expand to any number of words: both sides have stars, and all alternatives are
 * followed.
 */
function possibly(patterns: readonly WordPattern[], words: readonly ShellWord[], isWord: IsWord): boolean {
  let reached = new Set<number>([0]);
  for (const [index, { dynamic }] of words.entries()) {
    reached = skipOptionalWords(patterns, reached);
    const after = new Set<number>();
    for (const place of reached) {
      const pattern = patterns[place];
      if (dynamic) for (let further = place; further <= patterns.length; further++) after.add(further);
      else if (pattern === WORDS) after.add(place);
      else if (pattern === ONE_WORD || (pattern !== undefined && isWord(pattern, index))) after.add(place + 1);
    }
    reached = after;
  }
  return skipOptionalWords(patterns, reached).has(patterns.length);
}
