import { join, relative, resolve } from "node:path";
import { isInside } from "../../core/paths/is-inside.ts";
import { acts } from "../../core/permission/protected/in-call.ts";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { type Glob, matchesGlob, parseGlob } from "../../core/paths/glob.ts";
import type { CallSubject, ShellSubject } from "../../core/rules/subject.ts";
import { realPath } from "../paths/real-path.ts";
import { configurationBelow } from "../protected/find-configuration.ts";
import type { Guarded, GuardedPaths } from "./guard-call.ts";
import { childrenOf } from "../protected/children-of.ts";

type Command = ShellSubject["commands"][number];
type Word = Command["words"][number];

/** A command that prints names of files in directories. */
interface Listing {
  readonly directories: readonly Word[];
  /** Whether it prints this file. */
  readonly prints: (file: Found) => boolean;
}

interface Found {
  /** Path components, starting below the listed directory. */
  readonly names: readonly string[];
  /** As the command prints it. */
  readonly path: string;
}

/**
 * Configuration that a line finds and then writes without naming it: `find . -exec sed -i … {} +`, `grep -rl x . |
 * xargs rm`, `for f in $(ls -A)`. Includes every configuration file in such a directory, unless the search excludes it.
 */
export function inListed(subject: CallSubject, bases: readonly string[], places: GuardedPaths): Guarded[] {
  const { shell } = subject;
  if (shell === undefined) return [];
  const named = shell.commands.filter(acts).flatMap((one) => unknownEnds(one, shell.vague ?? []));
  // Text that cannot be parsed may write anything the line lists.
  const ends = shell.unclear.length > 0 && shell.commands.some(showsHidden) ? [""] : named;
  if (ends.length === 0) return [];
  const mentioned = shell.mentions.map(({ real }) => real);
  for (const { directories, prints } of shell.commands.flatMap(listingOf))
    // A directory in a variable may be any that the line names.
    for (const name of directories.flatMap(({ text, dynamic }) => (dynamic ? [".", ...mentioned] : [text])))
      for (const directory of bases.map((base) => realPath(resolve(base, name))))
        for (const path of configurationIn(directory, subject, places)) {
          const below = relative(directory, path);
          const file = { names: below.split("/"), path: `${name.replace(/\/+$/, "")}/${below}` };
          if (ends.some((end) => path.endsWith(end)) && prints(file)) return guardEntries(path, subject);
        }
  return [];
}

function guardEntries(path: string, subject: CallSubject): Guarded[] {
  return [{ path, pattern: rowOfPath(path, subject)?.pattern ?? "$CAPSTAN_HOME/" }];
}

/** The endings of words that name something known only at run time: empty, or as in `{}/config.yaml`. */
function unknownEnds({ words: [program, ...words], via }: Command, vague: readonly string[]): string[] {
  if (nameOf(program) === "find") return words.some(({ text }) => text === "-delete") ? [""] : [];
  if (via.includes("xargs") && words.some(({ dynamic }) => dynamic)) return [""];
  return words
    .filter(({ text, dynamic }) => dynamic && vague.includes(text))
    .map(({ text }) => /[^$`"'{}()*?[\]…]*$/.exec(text.replace(/\$\{?\w+$/, "$").replace(/["']$/, ""))?.[0] ?? "");
}

/** Programs that also print the names of hidden files. */
function listingOf({ words: [program, ...words] }: Command): Listing[] {
  const has = (option: RegExp): boolean => words.some(({ text }) => option.test(text));
  const plain = words.filter(({ text }) => !text.startsWith("-"));
  const listed = plain.length > 0 ? plain : [HERE];
  // The first word is the pattern. With an option that gives the pattern, the set checked here is only approximate.
  const searched = has(/^-[a-zA-Z]*[ef]|^--(?:regexp|file)/) || plain.length < 2 ? [HERE, ...plain] : plain.slice(1);
  switch (nameOf(program)) {
    case "find":
      return [listingOfFind(words)];
    case "grep":
    case "egrep":
    case "fgrep":
      return has(/^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive$/)
        ? [{ directories: searched, prints: printedByGrep(words) }]
        : [];
    case "rg":
    case "fd":
    case "fdfind":
      return has(/^(?:-[a-zA-Z]*[.uH]|--hidden|--unrestricted)/) ? [{ directories: searched, prints: () => true }] : [];
    case "ls":
      if (!has(/^-[a-zA-Z]*[aA]|^--(?:almost-)?all$/)) return [];
      return [{ directories: listed, prints: ({ names }) => names.length === 1 || has(/^-[a-zA-Z]*R/) }];
    default:
      // With this shell option, `*` also matches hidden names.
      return showsHidden({ words }) ? [{ directories: [HERE], prints: () => true }] : [];
  }
}

function showsHidden({ words }: Pick<Command, "words">): boolean {
  return words.some(({ text }) => text === "dotglob");
}

const HERE: Word = { text: ".", dynamic: false };

function printedByGrep(words: readonly Word[]): Listing["prints"] {
  const [include, exclude, without] = ["--include", "--exclude", "--exclude-dir"].map((option) =>
    words.flatMap(({ text, dynamic }) =>
      text.startsWith(`${option}=`) ? globs(text.slice(option.length + 1), dynamic) : [],
    ),
  );
  return ({ names }) =>
    (include?.length === 0 || matchesAny(include, names.slice(-1))) &&
    !matchesAny(exclude, names.slice(-1)) &&
    !matchesAny(without, names.slice(0, -1));
}

/** A pattern known only at run time excludes nothing. */
function globs(text: string, dynamic: boolean): Glob[] {
  return dynamic ? [] : [parseGlob(text)];
}

function matchesAny(all: readonly Glob[] | undefined, texts: readonly string[]): boolean {
  return all?.some((glob) => texts.some((text) => matchesGlob(glob, text))) ?? false;
}

/** What find prints: whatever matches one of its alternatives, or everything if an alternative names nothing. */
function listingOfFind(words: readonly Word[]): Listing {
  const start = words.findIndex(({ text }) => /^[-(!]/.test(text));
  const directories = start < 0 ? words : words.slice(0, start);
  const tests = start < 0 ? [] : words.slice(start);
  const texts = tests.map(({ text }) => text);
  const depth = texts.includes("-maxdepth") ? Number(texts[texts.indexOf("-maxdepth") + 1]) : Infinity;
  const isTooDeep = ({ names }: Found): boolean => Number.isInteger(depth) && names.length > depth;
  const all = alternativesIn(tests);
  // A directory is skipped only if that test comes first, and never if find processes contents first.
  const isPruned = texts.some((text) => /^-(?:delete|depth|d)$/.test(text)) ? (): boolean => false : prunedBy(all[0]);
  const isNegated = texts.some((text, at) => /^(?:!|-not)$/.test(text) && texts[at + 1] === "(");
  return {
    directories: directories.length === 0 ? [HERE] : directories,
    prints: (file) =>
      !isTooDeep(file) &&
      (isNegated ||
        (!isPruned(file) && all.some((one) => !one.some(({ text }) => text === "-prune") && mayPrint(one, file)))),
  };
}

function alternativesIn(tests: readonly Word[]): Word[][] {
  const all: Word[][] = [[]];
  for (const word of tests.filter(({ text }) => !/^[()]$/.test(text)))
    if (/^(?:-o|-or|,)$/.test(word.text)) all.push([]);
    else all.at(-1)?.push(word);
  return all;
}

/** `-name .git -prune` and `-path ./.git -prune`, and nothing else. */
function prunedBy(tests: readonly Word[] = []): (file: Found) => boolean {
  const [test, pattern, ...rest] = tests.filter(
    ({ text }, at) => text !== "d" && !(text === "-type" && tests[at + 1]?.text === "d"),
  );
  const glob = pattern === undefined || pattern.dynamic ? undefined : parseGlob(pattern.text);
  if (glob === undefined || rest.length !== 1 || rest[0]?.text !== "-prune") return () => false;
  if (test?.text === "-name") return ({ names }) => matchesAny([glob], names);
  if (test?.text === "-path") return ({ path }) => matchesAny([glob], ancestorsOf(path));
  return () => false;
}

function ancestorsOf(path: string): string[] {
  const names = path.split("/");
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

/** Whether all name tests of an alternative could match this file. */
function mayPrint(tests: readonly Word[], { names, path }: Found): boolean {
  return tests.every(({ text, dynamic }, at) => {
    const test = tests[at - 1]?.text ?? "";
    if (dynamic || !/^-(?:name|iname|path|wholename|ipath|iwholename)$/.test(test)) return true;
    const isIgnoring = test.startsWith("-i");
    const subject = test.endsWith("name") && !test.endsWith("wholename") ? (names.at(-1) ?? "") : path;
    const isMatch = isIgnoring
      ? matchesGlob(parseGlob(text.toLowerCase()), subject.toLowerCase())
      : matchesGlob(parseGlob(text), subject);
    return /^(?:!|-not)$/.test(tests[at - 2]?.text ?? "") ? !isMatch : isMatch;
  });
}

/** The configuration files in a directory: those found there, and Capstan's own if the directory contains them. */
function configurationIn(directory: string, subject: CallSubject, { capstanHome }: GuardedPaths): string[] {
  const { workspace } = subject;
  const own = [capstanHome, ...childrenOf(capstanHome).map((name) => join(capstanHome, name))];
  const here = isInside(workspace, directory) && workspace !== directory ? configurationBelow(workspace) : [];
  return [
    ...(isInside(capstanHome, directory) ? own : []),
    ...[...here, ...configurationBelow(directory)].flatMap((path) => [
      path,
      ...childrenOf(path).map((name) => join(path, name)),
    ]),
  ];
}

function nameOf(program: { readonly text: string } | undefined): string {
  return program?.text.replace(/^.*\//, "") ?? "";
}
