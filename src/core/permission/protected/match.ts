import { isInside } from "../../paths/inside.ts";
import { expandBraces, type Glob, matchesGlob, parseGlob } from "../../paths/glob.ts";
import { PROTECTED, type ProtectedRow } from "./table.ts";

/** A row of the table, ready to be compared with paths. */
interface NamedRow {
  readonly row: ProtectedRow;
  readonly anchor: "anywhere" | "home";
  readonly names: readonly Glob[];
  /** Names that it matches, to compare with a pattern of the shell. Without a wildcard in it, the name itself. */
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

/** A recorded decision may name a row that the table no longer has. */
export function protectedRow(pattern: string): ProtectedRow {
  return PROTECTED.find((row) => row.pattern === pattern) ?? { pattern, readBy: "Capstan", why: pattern };
}

interface Places {
  readonly workspace: string;
  readonly home: string;
  /** As in the subject of a call. */
  readonly shell_home?: string | undefined;
}

/**
 * The row that an absolute path falls under. Of a path in the workspace or the HOME of commands only the names below
 * that count: both may lie in Capstan's home directory.
 */
export function rowOfPath(path: string, places: Places): ProtectedRow | undefined {
  const names = namesIn(path, places);
  const home = [places.shell_home, places.home].find((one) => one !== undefined && isInside(path, one));
  const inHome = home === undefined ? [] : namesOf(path.slice(home.length));
  return ROWS.find(({ anchor, names: wanted }) =>
    anchor === "home" ? startsWith(inHome, wanted) : names.some((_, at) => startsWith(names.slice(at), wanted)),
  )?.row;
}

/** The row that a path in a text falls under, when a shell or another program takes it for one. */
export function rowOfText(text: string, places: Places): ProtectedRow | undefined {
  for (const piece of new Set(text.slice(0, MAX_TEXT).replaceAll(ADDRESS, " ").split(NO_PATH))) {
    const row = MAY_MATCH.test(piece) ? rowOfPath(atHome(piece, places), places) : undefined;
    if (row !== undefined) return row;
  }
  return undefined;
}

/**
 * The row that a word could fall under when the shell expands it. Wildcards and `$X` may stand for anything, as long as
 * the name does not begin with them.
 */
export function rowOfPattern(word: string, places: Places): ProtectedRow | undefined {
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
    // `*` matches no name that begins with a dot, and what `$X` alone stands for is known only when the command runs.
    if (!/^[.[]/.test(name) || !/[$`*?[]/.test(name)) continue;
    const glob = parseGlob(name.replaceAll(UNKNOWN, "*"));
    const found = ROWS.find(({ anchor, sample }) => anchor === "anywhere" && matchesGlob(glob, sample));
    if (found !== undefined) return found.row;
  }
  return undefined;
}

function atHome(path: string, { home }: Places): string {
  return path.replace(/^~(?=\/|$)/, () => home);
}

const MAX_ALTERNATIVES = 64;
/** In characters. No command is longer, and what else is so long is content. */
const MAX_TEXT = 262_144;
/** Of a file elsewhere. */
const ADDRESS = /\b(?!file:)[a-z][a-z0-9+.-]*:\/\/[^\s"'`\\<>|;]*/gi;
/** Every name of the table has a dot, or something that is taken for one. */
const MAY_MATCH = /[.~[]|[^\0-\x7f]/;
/** What stands between paths in a script, an option or a list. */
const NO_PATH = /[\s"'`\\=:;,@<>|&()!#]+/;
/** Stands for what is only known when the command runs. */
const UNKNOWN = /\$(?:\{[^}]*\}?|\([^)]*\)?|\w+|[@*#?$!-])?|`[^`]*`?/g;

function startsWith(names: readonly string[], wanted: readonly Glob[]): boolean {
  return names.length >= wanted.length && wanted.every((glob, at) => matchesGlob(glob, names[at] ?? ""));
}

function namesIn(path: string, { workspace, shell_home: shellHome }: Places): string[] {
  const own = [workspace, shellHome].find((one) => one !== undefined && isInside(path, one)) ?? "";
  return namesOf(path.slice(own.length));
}

function namesOf(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "")
    .map(plainName);
}

/** Letters that a name may have without being another one to some file system: case, composition, invisible ones. */
function plainName(name: string): string {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    // Windows drops them.
    .replace(/(?<=[^ .])[ .]+$/, "");
  // How Windows calls `.git` and `.gitmodules` where long names are not known.
  return plain.replace(/^git~\d+$/, ".git").replace(/^gitmod~\d+$/, ".gitmodules");
}
