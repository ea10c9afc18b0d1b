import { isInside } from "../../paths/is-inside.ts";
import { expandBraces, type Glob, matchesGlob, parseGlob } from "../../paths/glob.ts";
import { PROTECTED, type ProtectedRow } from "./table.ts";

/** A row of the table, prepared for comparison with paths. */
interface NamedRow {
  readonly row: ProtectedRow;
  readonly anchor: "anywhere" | "home";
  readonly names: readonly Glob[];
  /** A name that it matches, to compare with a shell pattern. The name itself if it has no wildcard. */
  readonly sample: string;
}

const ROWS: readonly NamedRow[] = PROTECTED.filter(({ pattern }) => !pattern.startsWith("$")).map((row) => {
  const [, anchor = "", names = ""] = /^(\*\*|~)\/(.*?)\/?$/.exec(row.pattern) ?? [];
  return {
    row,
    anchor: anchor === "~" ? "home" : "anywhere",
    names: names.split("/").map(parseGlob),
    sample: names.replaceAll("*", ""),
  };
});

/** A recorded decision may name a row that no longer exists. */
export function protectedRow(pattern: string): ProtectedRow {
  return PROTECTED.find((row) => row.pattern === pattern) ?? { pattern, readBy: "Capstan", why: pattern };
}

interface ProtectedRoots {
  readonly workspace: string;
  readonly home: string;
  /** As in the subject of a call. */
  readonly shell_home?: string | undefined;
}

/**
 * The row that covers an absolute path. For a path in the workspace or in the HOME of commands, only the components
 * below that count: both may be in Capstan's home directory.
 */
export function rowOfPath(path: string, places: ProtectedRoots): ProtectedRow | undefined {
  const names = namesIn(path, places);
  const home = [places.shell_home, places.home].find((one) => one !== undefined && isInside(path, one));
  const inHome = home === undefined ? [] : namesOf(path.slice(home.length));
  return ROWS.find(({ anchor, names: wanted }) =>
    anchor === "home" ? startsWith(inHome, wanted) : names.some((_, at) => startsWith(names.slice(at), wanted)),
  )?.row;
}

/** The row that covers a path in a text, if a shell or another program would treat it as one. */
export function rowOfText(text: string, places: ProtectedRoots): ProtectedRow | undefined {
  for (const piece of piecesOf(text.slice(0, MAX_TEXT).replaceAll(ADDRESS, " "))) {
    const row = MAY_MATCH.test(piece) ? rowOfPath(atHome(piece, places), places) : undefined;
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Possible paths in a text. A short option may have one attached, as in `curl -so`. */
export function piecesOf(text: string): Set<string> {
  const pieces = new Set(text.split(NO_PATH));
  for (const piece of pieces) if (piece.startsWith("-")) pieces.add(piece.replace(/^-\w+(?=[.~/])/, ""));
  return pieces;
}

/**
 * The row that a word could match once the shell expands it. Wildcards and `$X` may expand to anything, as long as the
 * name does not start with them.
 */
export function rowOfPattern(word: string, places: ProtectedRoots): ProtectedRow | undefined {
  const written = word.slice(0, MAX_TEXT).replaceAll(/["'\\]/g, "");
  for (const text of expandBraces(written, MAX_ALTERNATIVES) ?? [written]) {
    const path = atHome(text, places);
    const row = rowOfText(text, places) ?? rowOfNames(namesIn(path, places));
    if (row !== undefined) return row;
  }
  return undefined;
}

function rowOfNames(names: readonly string[]): ProtectedRow | undefined {
  for (const name of names) {
    // `*` matches no name that starts with a dot, and the value of `$X` alone is known only when the command runs.
    if (!/^[.[]/.test(name) || !/[$`*?[]/.test(name)) continue;
    const glob = parseGlob(name.replaceAll(UNKNOWN, "*"));
    const found = ROWS.find(({ anchor, sample }) => anchor === "anywhere" && matchesGlob(glob, sample));
    if (found !== undefined) return found.row;
  }
  return undefined;
}

function atHome(path: string, { home }: ProtectedRoots): string {
  return path.replace(/^~(?=\/|$)/, () => home);
}

const MAX_ALTERNATIVES = 64;
/** Characters. No command is longer; longer text is content. */
const MAX_TEXT = 262_144;
/** A URL, except for file URLs. */
const ADDRESS = /\b(?!file:)[a-z][a-z0-9+.-]*:\/\/[^\s"'`\\<>|;]*/gi;
/** Every name in the table contains a dot, or something that expands to one. */
const MAY_MATCH = /[.~[]|[^\0-\x7f]/;
/** Separators between paths in a script, an option or a list. */
const NO_PATH = /[\s"'`\\=:;,@<>|&()!#]+/;
/** Matches expansions whose value is only known when the command runs. */
const UNKNOWN = /\$(?:\{[^}]*\}?|\([^)]*\)?|\w+|[@*#?$!-])?|`[^`]*`?/g;

function startsWith(names: readonly string[], wanted: readonly Glob[]): boolean {
  return names.length >= wanted.length && wanted.every((glob, at) => matchesGlob(glob, names[at] ?? ""));
}

function namesIn(path: string, { workspace, shell_home: shellHome }: ProtectedRoots): string[] {
  const own = [workspace, shellHome].find((one) => one !== undefined && isInside(path, one)) ?? "";
  return namesOf(path.slice(own.length));
}

function namesOf(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "")
    .map(plainName);
}

/** Removes differences that some file system ignores: case, composition, invisible characters. */
function plainName(name: string): string {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    // Windows drops them.
    .replace(/(?<=[^ .])[ .]+$/, "");
  // Windows short names for `.git` and `.gitmodules`.
  return plain.replace(/^git~\d+$/, ".git").replace(/^gitmod~\d+$/, ".gitmodules");
}
