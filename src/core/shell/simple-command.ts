import type { Assignment, Command } from "unbash";
import { writtenCommand } from "./grammar/written-command.ts";
import { plainWord, type At, type ReadWord } from "./reading.ts";
import { readRedirections } from "./redirections.ts";
import { changesWhatRuns } from "./variables.ts";
import { writtenForm } from "./words.ts";

/** Reads a command: its assignments, words and redirections, and what it runs. */
export function readSimpleCommand(command: Command, at: At): void {
  const assignments = command.prefix.filter((item) => item.type === "Assignment");
  const assigned = assignments.map((item) => readAssignment(item, at));
  const words: ReadWord[] = command.name === undefined ? [] : [at.word(command.name, at)];
  for (const item of command.suffix) {
    if (item.type === "Word") words.push(at.word(item, at));
    else if (item.type === "Assignment") words.push(readAssignment(item, at));
  }
  const { input, written } = readRedirections(command.redirects, at);
  at.written.push(writtenCommand(assigned.map(writtenForm), words.map(writtenForm), written));
  if (words.length > 0)
    at.run(
      words,
      assignments.map(({ name }) => name),
      at,
      input,
    );
}

/** Reads `NAME=value` before a command, alone, or after `export` and similar; returns it as a word. */
function readAssignment({ name, index, value, text, append }: Assignment, at: At): ReadWord {
  if (changesWhatRuns(name)) at.notes.unclear.add(`It sets ${name}, which changes what runs.`);
  if (index !== undefined) at.word(index, at);
  const dynamic: ReadWord = { text, source: text, dynamic: true, splits: false, prefix: `${name}=` };
  if (value.type === "ArrayValue") {
    at.notes.assign(name, undefined);
    for (const element of value.elements) at.word(element, at);
    return dynamic;
  }
  const read = at.word(value, at);
  at.notes.assign(name, append === true || index !== undefined ? undefined : plainWord(read));
  if (read.dynamic || index !== undefined) return { ...dynamic, prefix: `${name}=${read.prefix}` };
  const whole = `${name}${append === true ? "+" : ""}=${read.text}`;
  return { text: whole, source: text, dynamic: false, splits: false, prefix: whole };
}
