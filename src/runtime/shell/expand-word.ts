import type { ShellWord } from "../../core/shell/read-commands.ts";

/** The values that words can expand to, as far as the text shows. */
export interface ShellVariables {
  /** Every value that the line assigns to a variable; undefined if one of them is unknown. */
  valuesOf(name: string): readonly ShellWord[] | undefined;
  /** What `~` can mean; undefined if unknown. */
  readonly homes: readonly string[] | undefined;
}

const MAX_EXPANSIONS = 64;
const MAX_DEPTH = 4;
/** `$(cat <<'EOF' … EOF )`, the usual way to write multi-line text. */
const QUOTED_TEXT = /\$\(cat <<-?(['"])([A-Za-z0-9_]+)\1\n([\s\S]*?)\n?\2\n?\s*\)/y;
const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/y;
/** Quoted text, substitutions and variables, in which braces have no meaning; braces; any other character. */
const PIECES = /'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\$\([\s\S]*\)|\$\{[^}]*\}|\{[^{}'"$\s]*\}|[\s\S]/g;
const RANGE = /^([a-zA-Z]|-?[0-9]{1,3})\.\.([a-zA-Z]|-?[0-9]{1,3})$/;

/**
 * The texts that a word can expand to. Braces, the line's variables and the home directory are replaced. Wildcards
 * stay, and literal characters get a backslash. Undefined if part of it is known only at run time.
 */
export function expandWord({ text, dynamic }: ShellWord, variables: ShellVariables, depth = 0): string[] | undefined {
  if (!dynamic) return [escapeGlob(text)];
  if (depth > MAX_DEPTH) return undefined;
  // Bash expands braces before variables: $x{a,b} is $xa and $xb.
  const all = withoutBraces(text)?.map((one) => expandText(one, variables, depth));
  if (all === undefined || all.some((one) => one === undefined)) return undefined;
  const results = all.flatMap((one) => one ?? []);
  return results.length > MAX_EXPANSIONS ? undefined : results;
}

/** The texts after brace expansion; undefined if there are too many or they are not plain. */
function withoutBraces(text: string): string[] | undefined {
  let results = [""];
  for (const [piece] of text.matchAll(PIECES)) {
    const inside = /^\{(.*)\}$/s.exec(piece)?.[1];
    const texts = inside === undefined ? [piece] : alternatives(inside);
    if (texts === undefined || results.length * texts.length > MAX_EXPANSIONS) return undefined;
    results = results.flatMap((result) => texts.map((one) => result + one));
  }
  return results;
}

function expandText(text: string, variables: ShellVariables, depth: number): string[] | undefined {
  let results = [""];
  let isQuoted = false;
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === "'" && !isQuoted) {
      const end = text.indexOf("'", at + 1);
      if (end < 0 || !add([escapeGlob(text.slice(at + 1, end))], end + 1)) return undefined;
    } else if (character === '"') {
      isQuoted = !isQuoted;
      at += 1;
    } else if (character === "\\") {
      const isKept = isQuoted && !'$`"\\'.includes(next);
      if (!add([escapeGlob(isKept ? `\\${next}` : next)], at + 2)) return undefined;
    } else if (character === "$") {
      const found = dollar(at, isQuoted);
      if (found === undefined || !add(found.texts, found.end)) return undefined;
    } else if (isQuoted) {
      if (!add([escapeGlob(character)], at + 1)) return undefined;
    } else if (character === "{" || character === "}") {
      if (!add([escapeGlob(character)], at + 1)) return undefined;
    } else if (character === "~" && /^$|[=:]/.test(text.charAt(at - 1))) {
      // ~user and ~+ are different directories.
      if (!/^$|\//.test(next) || !add(variables.homes?.map(escapeGlob), at + 1)) return undefined;
    } else if (character === "`" || character === "<" || character === ">") return undefined;
    else if (!add([character], at + 1)) return undefined;

    function add(pieces: readonly string[] | undefined, end: number): boolean {
      if (pieces === undefined || results.length * pieces.length > MAX_EXPANSIONS) return false;
      results = results.flatMap((result) => pieces.map((piece) => result + piece));
      at = end;
      return true;
    }
  }
  return results;

  function match(pattern: RegExp, at: number): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    return pattern.exec(text) ?? undefined;
  }

  function dollar(at: number, inQuotes: boolean): { texts: string[]; end: number } | undefined {
    const quoted = match(QUOTED_TEXT, at);
    if (quoted !== undefined) return { texts: [escapeGlob(quoted[3] ?? "")], end: at + quoted[0].length };
    const found = match(VARIABLE, at);
    if (found === undefined) {
      if (/[?#$!]/.test(text.charAt(at + 1))) return { texts: ["0"], end: at + 2 };
      // A literal dollar sign inside quotes.
      return inQuotes && /[" |)/]/.test(text.charAt(at + 1)) ? { texts: ["$"], end: at + 1 } : undefined;
    }
    const values = variables.valuesOf(found[1] ?? found[2] ?? "");
    const texts = values?.map((value) => expandWord(value, variables, depth + 1));
    if (texts === undefined || texts.some((one) => one === undefined)) return undefined;
    const all = texts.flatMap((one) => one ?? []);
    // Outside quotes, the value is split and its wildcards expand.
    if (inQuotes) return { texts: all, end: at + found[0].length };
    return all.some((one) => /\s/.test(one))
      ? undefined
      : { texts: all.flatMap((one) => [one, one.replaceAll(/\\([*?[])/g, "$1")]), end: at + found[0].length };
  }
}

/** `a,b` and `1..3`; other braces are literal. */
function alternatives(inside: string): string[] | undefined {
  const [, first = "", last = ""] = RANGE.exec(inside) ?? [];
  if (first === "")
    return inside.includes(",") ? inside.split(",") : inside.includes("..") ? undefined : [`{${inside}}`];
  const isNumber = /[0-9]/.test(first) && /[0-9]/.test(last);
  if (!isNumber && (/[0-9]/.test(first) || /[0-9]/.test(last))) return [`{${inside}}`];
  // A leading zero pads all of them to the same width.
  if (isNumber && /^-?0[0-9]|^-?0[0-9]/.test(`${first} ${last}`)) return undefined;
  const [from, to] = isNumber ? [Number(first), Number(last)] : [first.charCodeAt(0), last.charCodeAt(0)];
  const step = from <= to ? 1 : -1;
  const count = Math.abs(to - from) + 1;
  if (count > MAX_EXPANSIONS) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const value = from + index * step;
    return isNumber ? String(value) : escapeGlob(String.fromCharCode(value));
  });
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}]/g, String.raw`\$&`);
}

/** The text itself, if it contains no wildcard. */
export function withoutWildcards(pattern: string): string | undefined {
  return /^(?:[^\\*?[]|\\.)*$/s.test(pattern) ? unescapeGlob(pattern) : undefined;
}

/** A pattern as the shell passes it on when it matches nothing. */
export function unescapeGlob(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gs, "$1");
}
