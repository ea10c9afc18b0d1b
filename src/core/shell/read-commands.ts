import { parse } from "unbash";
import { badCharacters } from "./characters.ts";
import { recognise } from "./grammar/recognise.ts";
import { isSame } from "./grammar/written-command.ts";
import { Notes, quoteExcerpt, type At, type ShellReading } from "./reading.ts";
import { runCommand } from "./run-command.ts";
import { readScript } from "./statements.ts";
import { readWord } from "./words.ts";

export type { ShellCommand, ShellEffect, ShellReading, ShellWord, ShellWrite } from "./reading.ts";

/**
 * Lists every program that a line of bash can run. It errs only on the safe side: `unclear` says what could not be
 * parsed, and no rule may allow a line with such an entry. The parser reads all of bash, so that deny rules find as
 * much as possible; a line is clear only if the grammar accepts it and finds the same content.
 */
export function readCommands(line: string): ShellReading {
  const notes = new Notes();
  const at: At = {
    notes,
    via: [],
    depth: 0,
    effects: [],
    written: [],
    script: readScript,
    text: readText,
    word: readWord,
    run: runCommand,
  };
  try {
    readText(line, at);
  } catch {
    // The parser and this reader are recursive: absurd nesting exhausts the stack.
    notes.unclear.add("It could not be parsed.");
  }
  const { commands, writes, reads, variables, unclear } = notes;
  return { commands, writes, reads, variables, unclear: [...unclear] };
}

/** Reads a line, or text inside it that a shell will run. */
function readText(source: string, outer: At): void {
  const { unclear } = outer.notes;
  const bad = badCharacters(source);
  if (bad !== undefined) {
    unclear.add(bad);
    return;
  }
  const recognised = recognise(source);
  if ("refused" in recognised)
    unclear.add(outer.depth === 0 ? recognised.refused : `In ${quoteExcerpt(source)}: ${recognised.refused}`);
  const at: At = { ...outer, written: [] };
  readScript(parse(source), at);
  if ("written" in recognised && !isSame(recognised.written, at.written))
    unclear.add(`It is uncertain how the shell will read ${quoteExcerpt(source)}.`);
}
