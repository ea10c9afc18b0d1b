import { parse } from "unbash";
import { checkCounted } from "./arithmetic.ts";
import { badCharacters } from "./characters.ts";
import { Notes, type At, type ShellReading } from "./reading.ts";
import { runCommand } from "./run-command.ts";
import { readScript } from "./statements.ts";
import { readWord } from "./words.ts";

export type { ShellCommand, ShellReading, ShellWord, ShellWrite } from "./reading.ts";

/**
 * Lists every program that a line of bash can run. It errs on one side only: what it does not understand is said in
 * `unclear`, and with such an entry no rule may allow the line.
 */
export function readCommands(line: string): ShellReading {
  const notes = new Notes();
  const at: At = {
    notes,
    via: [],
    depth: 0,
    functions: new Set(),
    rewritten: false,
    script: readScript,
    text: readText,
    word: readWord,
    run: runCommand,
  };
  const bad = badCharacters(line);
  if (bad !== undefined) notes.unclear.add(bad);
  try {
    if (bad === undefined) readScript(parse(line), at);
    checkCounted(at);
  } catch {
    // The parser and this reader are recursive: absurd nesting exhausts the stack.
    notes.unclear.add("It could not be read.");
  }
  const { commands, writes, reads, loops, unclear } = notes;
  return { commands, writes, reads, loops, unclear: [...unclear] };
}

function readText(source: string, at: At): void {
  const bad = badCharacters(source);
  if (bad !== undefined) at.notes.unclear.add(bad);
  else readScript(parse(source), { ...at, functions: new Set(), rewritten: false });
}
