import { readBuiltin } from "./builtins.ts";
import { isPlainAscii } from "./characters.ts";
import { findEffects } from "./effects/find-effects.ts";
import { readProgram } from "./programs.ts";
import { plainWord, quoteExcerpt, type At, type StandardInput, type ReadWord, type ShellEffect } from "./reading.ts";
import { readShellText } from "./shells.ts";
import { readWrapper } from "./wrappers.ts";

/** Lists a command, and then what it runs. */
export function runCommand(
  words: readonly ReadWord[],
  assignments: readonly string[],
  outer: At,
  input: StandardInput,
): void {
  const [program] = words;
  if (program === undefined) return;
  const effects: ShellEffect[] = [];
  const at: At = { ...outer, effects };
  at.notes.commands.push({ words: words.map(plainWord), assignments, via: at.via, effects });
  if (program.dynamic) {
    at.notes.unclear.add(`The program ${quoteExcerpt(program.source)} is only known when it runs.`);
    return;
  }
  if (program.text === "") at.notes.unclear.add("A program has no name.");
  // In zsh, =name is the path of a program; elsewhere no program has such a name.
  if (!isPlainAscii(program.text) || program.text.startsWith("="))
    at.notes.unclear.add(
      `The program name ${quoteExcerpt(program.text)} contains characters that are not plain ASCII.`,
    );
  // Only the base name counts, in lower case: some file systems find sudo as SUDO.
  const name = program.text.slice(program.text.lastIndexOf("/") + 1).toLowerCase();
  effects.push(...findEffects(name, words));
  if (readWrapper(name, words, at, input) || readShellText(name, words, at, input)) return;
  if (!readProgram(name, words, at)) readBuiltin(name, words, at);
}
