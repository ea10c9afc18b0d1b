import { statSync } from "node:fs";
import type { PathAccess, NamedPath } from "../../core/rules/subject.ts";
import type { ShellCommand, ShellReading, ShellWord } from "../../core/shell/read-commands.ts";
import type { Names } from "../paths/path-names.ts";
import { type Effort, expandGlob } from "./expand-glob.ts";
import { expandWord, withoutWildcards, type ShellVariables } from "./expand-word.ts";
import { looksLikePath, pathsIn } from "./paths-in.ts";
import { KNOWN_DIRECTORY } from "./base-directories.ts";
import { homesOf } from "./homes.ts";
import { isMove } from "./directory-moves.ts";
import { accessToDirectories, searchesHere } from "./whole-directories.ts";

/** At most this many paths of a command are checked, so that a decision does not block the host. */
const MAX_LOOKED = 1_000;
/** Programs that do not open files named by their arguments. */
const OPENS_NOTHING = new Set(
  `echo printf test [ true false : export declare local readonly typeset unset read set shopt kill sleep exit return wait break
  continue shift basename dirname seq date expr command env nohup nice timeout time xargs`.split(/\s+/),
);

export interface Mentions {
  readonly mentions: NamedPath[];
  /** Directories whose entire content a command reads or changes. */
  readonly searched: PathAccess[];
  /** Words that may name any path. */
  readonly vague: string[];
  /** There are more paths than were checked. */
  readonly isCut: boolean;
}

/** The paths among the words of commands, with wildcards and variables expanded like in the shell. */
export function findMentions(reading: ShellReading, bases: readonly string[], names: Names): Mentions {
  const finder = new Finder(reading, bases, names);
  for (const command of reading.commands) finder.look(command);
  // Known paths are already included.
  for (const { path } of reading.writes) if (path.dynamic) finder.textsOf(path);
  // The line may use its variables in ways that the parser does not see.
  for (const values of reading.variables.values()) for (const value of values ?? []) finder.textsOf(value);
  return finder.findMentions();
}

class Finder {
  readonly #bases: readonly string[];
  readonly #names: Names;
  readonly #variables: ShellVariables;
  readonly #texts = new Set<string>();
  readonly #vague = new Set<string>();
  readonly #searched: PathAccess[] = [];
  readonly #effort: Effort = { looked: 0 };
  /** No shell option changes what patterns match. */
  readonly #hasPlainGlobs: boolean;

  constructor(reading: ShellReading, bases: readonly string[], names: Names) {
    const { commands, variables } = reading;
    this.#bases = bases;
    this.#names = names;
    this.#hasPlainGlobs = !commands.some(({ words }) =>
      words.some(({ text }) => /^(?:shopt|dotglob|nocaseglob|extglob)$/.test(text)),
    );
    const stays = bases.length === 1;
    const homes = homesOf(reading, names);
    this.#variables = {
      homes,
      valuesOf: (name) => {
        if (name === "HOME") return homes?.map((text) => ({ text, dynamic: false }));
        if (variables.has(name)) return variables.get(name);
        return name === "PWD" && stays ? [{ text: names.workspace, dynamic: false }] : undefined;
      },
    };
  }

  look(command: ShellCommand): void {
    const [program, ...rest] = command.words;
    const name = program?.text.replace(/^.*\//, "") ?? "";
    // The program is a path only if it contains a slash.
    if (program?.text.includes("/") === true) this.textsOf(program);
    const isFed = /^(?:xargs|find )/.test(command.via.at(-1) ?? "");
    const texts: string[] = [];
    for (const word of rest) {
      // The target decides what all following names refer to.
      if (word.dynamic && isMove(command) && !KNOWN_DIRECTORY.test(word.text)) this.#vague.add(word.text);
      const own = isFed && word.dynamic ? undefined : this.textsOf(word);
      if (own !== undefined) texts.push(...own);
      else if (!OPENS_NOTHING.has(name)) this.#vague.add(word.text);
    }
    for (const access of accessToDirectories(name, rest)) {
      const before = this.#searched.length;
      for (const text of texts) this.#search(text, access);
      if (this.#searched.length === before && searchesHere(name)) this.#search(".", access);
    }
  }

  /**
   * The texts that a word can expand to; undefined if that is uncertain, in which case the known beginning is still
   * checked.
   */
  textsOf(word: ShellWord): readonly string[] | undefined {
    const patterns = expandWord(word, this.#variables);
    const texts = patterns?.map((pattern) => this.#matches(pattern));
    if (texts === undefined || texts.some((one) => one === undefined)) {
      for (const text of pathsIn(word, this.#names.home)) this.#texts.add(text);
      return undefined;
    }
    const all = texts.flatMap((one) => one ?? []);
    for (const text of all)
      for (const path of pathsIn({ text, dynamic: false }, this.#names.home)) this.#texts.add(path);
    return all;
  }

  #matches(pattern: string): string[] | undefined {
    const literal = withoutWildcards(pattern);
    if (literal !== undefined) return [literal];
    if (!this.#hasPlainGlobs) return undefined;
    const found = this.#bases.map((base) => expandGlob(pattern, base, this.#effort));
    return found.some((one) => one === undefined) ? undefined : found.flatMap((one) => one ?? []);
  }

  #search(text: string, access: "read" | "write"): void {
    for (const path of pathsIn({ text, dynamic: false }, this.#names.home))
      for (const base of this.#bases)
        for (const place of this.#names.places(path, base))
          if (isDirectory(place.real)) this.#searched.push({ ...place, access });
  }

  findMentions(): Mentions {
    const texts = [...this.#texts];
    const looked = texts.slice(0, Math.ceil(MAX_LOOKED / this.#bases.length));
    const mentions = looked.flatMap((text) =>
      this.#bases
        .filter((base) => looksLikePath(text) || this.#names.exists(text, base))
        .flatMap((base) => this.#names.places(text, base)),
    );
    return { mentions, searched: this.#searched, vague: [...this.#vague], isCut: looked.length < texts.length };
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
