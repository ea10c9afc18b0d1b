import type { ReadWord, ShellEffect } from "../reading.ts";

/** An awk program that prints to a file or a pipe, starts a command, or includes other code. */
const ACTS = /\bsystem\b|\bclose\b|\|(?!\|)|\bprintf?\b[^;}\n]*>|@|\bgetline\b/;
const WITH_VALUE = /^-[Fv]$/;

/** What an awk program does besides printing; one that is only known when it runs may do anything. */
export function awkEffects(words: readonly ReadWord[]): ShellEffect[] {
  const program = programOf(words);
  const read = program === undefined ? undefined : words[program];
  if (program === undefined || read === undefined) return [];
  if (read.dynamic)
    return [{ word: program, option: "system()", written: read.source, does: "runs a program", doubtful: true }];
  // A comparison or || is not a redirection.
  const found = ACTS.exec(read.text.replaceAll("||", " "))?.[0];
  if (found === undefined) return [];
  const does = found.startsWith("print") ? "writes a file" : "runs a program";
  return [{ word: program, option: shownAs(found), written: read.text, does }];
}

function shownAs(found: string): string {
  if (found.startsWith("print")) return "print >";
  return found === "system" || found === "close" ? `${found}()` : found;
}

function programOf(words: readonly ReadWord[]): number | undefined {
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    if (WITH_VALUE.test(text)) at += 1;
    else if (text === "--") return at + 1 < words.length ? at + 1 : undefined;
    else if (!/^-./.test(text) || words[at]?.dynamic === true) return at;
  }
  return undefined;
}
