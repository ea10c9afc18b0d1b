import type { ReadWord, ShellEffect } from "../reading.ts";

/** An awk program that prints to a file or a pipe, starts a command, or includes other code. */
const ACTS = /\bsystem\b|\bclose\b|\|(?!\|)|\bprintf?\b[^;}\n]*>|@|\bgetline\b/;
const WITH_VALUE = /^-[Fv]$/;

/** What the programs of awk do besides printing; one that is only known when it runs may do anything. */
export function awkEffects(words: readonly ReadWord[]): ShellEffect[] {
  return programsOf(words).flatMap((program) => effectsOf(program, words[program]));
}

function effectsOf(program: number, read: ReadWord | undefined): ShellEffect[] {
  if (read === undefined) return [];
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

/** Options that give a part of the program, of which there may be several: in the next word, or in their own. */
const GIVES_PROGRAM = /^(?:-[a-zA-Z]*e|--source)/;
const IN_NEXT = /^(?:-[a-zA-Z]*e|--source)$/;

function programsOf(words: readonly ReadWord[]): number[] {
  const given: number[] = [];
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    if (WITH_VALUE.test(text)) at += 1;
    else if (GIVES_PROGRAM.test(text) && words[at]?.dynamic === false) given.push(IN_NEXT.test(text) ? ++at : at);
    else if (text === "--") return given.length > 0 ? given : [at + 1];
    else if (!/^-./.test(text) || words[at]?.dynamic === true) return given.length > 0 ? given : [at];
  }
  return given;
}
