import { dirname, join } from "node:path";
import type { ShellWord } from "../../core/shell/read-commands.ts";

/**
 * The parts of a word that could be a path: all of it, what follows `=`, `@` or a short option, and what looks like a
 * path between such marks, as in `-F f=@.env`, `HEAD:src/a.ts` or `-v /a:/b`. For a word with wildcards, the part
 * before them.
 */
export function pathsIn({ text, dynamic }: ShellWord, home: string): string[] {
  const known = dynamic ? (/^[^$`*?[{"'\\]*(?:\/|$)/.exec(withRoots(text, home))?.[0] ?? "") : text;
  const whole = known.replace(/^file:\/\/(?:localhost)?(?=\/)/i, "");
  const attached = /^-[A-Za-z]([^-].*)$/s.exec(whole)?.[1] ?? "";
  const pieces = isAddress(whole) ? [] : (attached || whole).split(/[=:;,@<]/);
  return [
    whole,
    attached,
    /=(.+)$/s.exec(whole)?.[1] ?? "",
    /^@(.+)$/s.exec(whole)?.[1] ?? "",
    ...pieces.filter((piece) => piece.length < whole.length && /^(?!\/\/)\S+$/.test(piece) && looksLikePath(piece)),
  ].filter((part) => part !== "");
}

/** Replaces variables and tildes that have a known value in every shell. */
function withRoots(text: string, home: string): string {
  const bare = /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
  return bare
    .replace(/^"?\$\{?HOME\}?"?(?=\/|$)/, "~")
    .replace(/^(?:"?\$\{?PWD\}?"?|~\+)(?=\/|$)/, ".")
    .replace(/^~([\w.-]+)(?=\/|$)/, (_, user: string) => (user === "root" ? "/root" : join(dirname(home), user)));
}

/** A name with an extension may be a file that does not exist yet. */
const WITH_ENDING = /^[\w@%+-][\w@%+.-]*\.[A-Za-z]\w{0,9}$/;

export function looksLikePath(text: string): boolean {
  return (/^[.~]|\//.test(text) && !isAddress(text)) || WITH_ENDING.test(text);
}

function isAddress(text: string): boolean {
  return /^\w+:\/\//.test(text);
}
