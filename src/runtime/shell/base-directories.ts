import { existsSync } from "node:fs";
import type { ShellReading, ShellWord } from "../../core/shell/read-commands.ts";
import type { Names } from "../paths/path-names.ts";
import { expandGlob } from "./expand-glob.ts";
import { expandWord, withoutWildcards } from "./expand-word.ts";
import { homesOf, isAtHome } from "./homes.ts";
import { pathsIn } from "./paths-in.ts";
import { isHiddenMove, isMove, isOrdered, isReturn } from "./directory-moves.ts";

/** A command may be in at most this many directories; beyond that, where it writes is unknown. */
const MAX_BASES = 16;
/** Variables that decide where `cd` leads, besides HOME and PWD, which are allowed. */
const DECIDING = /\b(?:CDPATH|OLDPWD|DIRSTACK)\b|~(?:-|[-+]?\d)/;
/** `~/src`, `"$HOME/src"` and `$PWD/src` are known without the line's variables. */
export const KNOWN_DIRECTORY = /^"?(?:~|\$HOME|\$\{HOME\}|\$PWD|\$\{PWD\})"?(?:\/[^$`*?[{"'\\]*)?"?$/;

export interface Directories {
  /** Every directory the command may be in, according to its `cd`s. */
  readonly bases: readonly string[];
  /** Whether the directories are certain. */
  readonly areKnown: boolean;
  /** What leads to a directory that is known only at run time, and the first command that may run there. */
  readonly lost: { readonly by: string; readonly from: number } | undefined;
}

export function basesOf(reading: ShellReading, line: string, names: Names): Directories {
  const { commands, variables, writes } = reading;
  const inOrder = isOrdered(line);
  const isDecided = DECIDING.test(line) || variables.has("HOME") || variables.has("PWD");
  const bases = new Set([names.workspace]);
  let areKnown = true;
  let lost: Directories["lost"];
  const lose = (words: readonly ShellWord[], from: number): void => {
    areKnown = false;
    lost ??= { by: `\`${words.map(({ text }) => text).join(" ")}\``, from: inOrder ? from : 0 };
  };
  const used = [...commands.flatMap(({ words }) => words), ...writes.map(({ path }) => path)];
  if (homesOf(reading, names) === undefined && used.some(isAtHome)) lose([{ text: "HOME=…", dynamic: true }], 0);
  for (let round = 0, before = 0; before < bases.size; round++) {
    before = bases.size;
    for (const [at, { words }] of commands.entries()) {
      if (isHiddenMove({ words })) lose(words, at);
      if (!isMove({ words })) continue;
      // It leads to one of these, or to a directory of an earlier call.
      if (isDecided || isReturn({ words })) lose(words, at + 1);
      const [program, ...rest] = words;
      if (program?.text !== "cd" || rest.length !== 1 || !isPlain(rest[0])) areKnown = false;
      for (const word of rest.length === 0 ? [HOME] : rest) {
        const texts = targetsOf(word, { variables, bases: [...bases], names });
        if (texts === undefined) lose(words, at + 1);
        // Even if a word is unknown, its beginning may be known.
        for (const text of texts ?? pathsIn(word, names.home).slice(0, 1))
          for (const base of [...bases].slice(0, MAX_BASES))
            for (const { real } of names.places(text, base)) if (round === 0 || existsSync(real)) bases.add(real);
      }
      if (bases.size > MAX_BASES) lose(words, at + 1);
    }
    // In a loop, `cd ..` goes further up each time, as far as there are directories.
    if (inOrder || bases.size > MAX_BASES) break;
  }
  return { bases: [...bases].slice(0, MAX_BASES), areKnown, lost };
}

const HOME: ShellWord = { text: "~", dynamic: true };

function isPlain(word: ShellWord | undefined): boolean {
  return word?.dynamic === false && !/^[-+]/.test(word.text);
}

/** The possible targets of a `cd` to this word; undefined if they are known only at run time. */
function targetsOf(
  word: ShellWord,
  { variables, bases, names }: Pick<ShellReading, "variables"> & { bases: readonly string[]; names: Names },
): readonly string[] | undefined {
  if (!word.dynamic || KNOWN_DIRECTORY.test(word.text)) return pathsIn(word, names.home).slice(0, 1);
  const patterns = expandWord(word, { homes: names.homes, valuesOf: (name) => variables.get(name) });
  const effort = { looked: 0 };
  const found = patterns?.map((pattern) => {
    const literal = withoutWildcards(pattern);
    if (literal !== undefined) return /^(?:[-+]\d*|)$/.test(literal) ? undefined : [literal];
    const matches = bases.map((base) => expandGlob(pattern, base, effort));
    return matches.includes(undefined) ? undefined : matches.flatMap((one) => one ?? []);
  });
  return found === undefined || found.includes(undefined) ? undefined : found.flatMap((one) => one ?? []);
}
