import type { ReadWord, ShellEffect } from "../reading.ts";
import { type Does, entryOf, type ProgramEntry } from "./table.ts";

/** What a command does because of its options, as far as the table knows. */
export function findEffects(name: string, words: readonly ReadWord[]): ShellEffect[] {
  const entry = entryOf(name);
  if (entry === undefined) return secondOperand(name, words);
  const effects: ShellEffect[] = [];
  let areOver = false;
  for (const [word, { text, dynamic }] of words.entries()) {
    if (word === 0) continue;
    if (dynamic) {
      const doubt = areOver ? undefined : doubtAbout(word, words[word], entry);
      if (doubt !== undefined) effects.push(doubt);
    } else if (text === "--") areOver = true;
    else effects.push(...optionEffects(word, areOver ? text.replace(/^-.*/s, "") : text, entry));
  }
  return effects;
}

/** The options in one word. A long option that is written out is not an abbreviation of another. */
function optionEffects(word: number, text: string, { acts, values }: ProgramEntry): ShellEffect[] {
  const all = Object.entries(acts) as [Does, string][];
  const effects = all.flatMap(([does, options]) =>
    options.split(" ").flatMap((option): ShellEffect[] => {
      const written = writtenAs(option, text, values);
      return written === undefined ? [] : [{ word, option, written, does }];
    }),
  );
  const exact = effects.filter(({ option, written }) => option === written && option.startsWith("--"));
  return exact.length > 0 ? exact : effects;
}

/** How a word writes an option, such as `-no` for `-o` or `--out` for `--output`; undefined if it does not. */
function writtenAs(option: string, text: string, values: string): string | undefined {
  if (option.startsWith("--")) {
    const given = text.replace(/=.*$/s, "");
    return given.length > 2 && option.startsWith(given) ? given : undefined;
  }
  if (/^-.$/.test(option)) return inCluster(option.charAt(1), text, values);
  const isBeginning = option.endsWith("=") || option === "+";
  return isBeginning ? (text.startsWith(option) ? option : undefined) : text === option ? option : undefined;
}

/** A letter in a group after one dash, unless an earlier one takes the rest as its value. */
function inCluster(letter: string, text: string, values: string): string | undefined {
  if (!/^-[^-]/.test(text)) return undefined;
  for (let at = 1; at < text.length; at++) {
    if (text.charAt(at) === letter) return text.slice(0, at + 1);
    if (values.includes(text.charAt(at))) return undefined;
  }
  return undefined;
}

/** A word that is only known when it runs may turn out to be such an option. */
function doubtAbout(word: number, read: ReadWord | undefined, { acts }: ProgramEntry): ShellEffect | undefined {
  if (read === undefined) return undefined;
  const { prefix, splits, source } = read;
  const begins = prefix !== "" && !prefix.startsWith("-");
  if (begins && !(splits && /[$`]/.test(source))) return undefined;
  const [does] = Object.keys(acts) as Does[];
  const [option] = Object.values(acts);
  if (does === undefined || option === undefined) return undefined;
  return { word, option: option.split(" ")[0] ?? option, written: source, does, doubtful: true };
}

/** Programs that write to their second operand. */
const SECOND_IS_WRITTEN = new Set(["uniq", "guniq"]);

function secondOperand(name: string, words: readonly ReadWord[]): ShellEffect[] {
  if (!SECOND_IS_WRITTEN.has(name)) return [];
  const operands = words.flatMap((read, word) => (word > 0 && !/^-./.test(read.text) ? [{ word, read }] : []));
  const [first, second] = operands;
  if (first?.read.splits === true)
    return [
      { word: first.word, option: "a second file", written: first.read.source, does: "writes a file", doubtful: true },
    ];
  return second === undefined
    ? []
    : [{ word: second.word, option: second.read.text, written: second.read.text, does: "writes a file" }];
}
