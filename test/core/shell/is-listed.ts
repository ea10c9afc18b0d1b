import type { ShellReading, ShellWord } from "../../../src/core/shell/read-commands.ts";

/** Whether a reading lists a program that really ran, with these very words where it claims to know them. */
export function isListed(reading: ShellReading, ran: readonly string[]): boolean {
  const [program = "", ...rest] = ran;
  return reading.commands.some(({ words }) => {
    const [first, ...others] = words;
    if (first === undefined || first.dynamic) return false;
    return first.text.slice(first.text.lastIndexOf("/") + 1) === program && fits(others, rest);
  });
}

/** A dynamic word stands for any number of words. */
function fits(words: readonly ShellWord[], ran: readonly string[]): boolean {
  const [word, ...others] = words;
  if (word === undefined) return ran.length === 0;
  if (!word.dynamic) return ran[0] === word.text && fits(others, ran.slice(1));
  return fits(others, ran) || (ran.length > 0 && fits(words, ran.slice(1)));
}
