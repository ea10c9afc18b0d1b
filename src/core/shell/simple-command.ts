import type { Assignment, Command, Redirection } from "unbash";
import { noteAssigned, readIndex } from "./arithmetic.ts";
import { quoted, type At, type Input, type ReadWord } from "./reading.ts";
import { readRedirections } from "./redirections.ts";
import { changesWhatRuns } from "./variables.ts";

/** Reads a command: its assignments, words and redirections, and what it runs in turn. */
export function readSimpleCommand(command: Command, at: At): void {
  const assignments: string[] = [];
  for (const item of command.prefix) {
    if (item.type !== "Assignment") continue;
    readAssignment(item, at);
    assignments.push(item.name);
  }
  const words: ReadWord[] = command.name === undefined ? [] : [at.word(command.name, at)];
  for (const item of command.suffix) {
    if (item.type === "Word") words.push(at.word(item, at));
    else if (item.type === "Assignment") words.push(readAssignment(item, at));
  }
  checkGaps(command, at);
  const input: Input = readRedirections(redirectionsOf(command), at);
  const [program] = words;
  if (program === undefined) return;
  // A function's body was read where it is defined.
  if (!program.dynamic && at.functions.has(program.text)) return;
  at.run(words, assignments, at, input);
}

/** Words that touch, such as `a<(b)`, are one word to bash. */
function checkGaps({ name, prefix, suffix }: Command, at: At): void {
  const items = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  for (const [index, item] of items.entries()) {
    const before = items[index - 1];
    if (item.type === "Word" && before !== undefined && before.end >= item.pos && item.text !== "")
      at.notes.unclear.add(`Where the word before ${quoted(item.text)} ends is not clear.`);
  }
}

function redirectionsOf({ prefix, suffix }: Command): Redirection[] {
  return [...prefix, ...suffix].filter(
    (item): item is Redirection => item.type !== "Assignment" && item.type !== "Word",
  );
}

/** Reads `NAME=value` before a command, alone, or after `export` and its kind; gives it as a word. */
function readAssignment({ name, index, value, text, append }: Assignment, at: At): ReadWord {
  if (changesWhatRuns(name)) at.notes.unclear.add(`It sets ${name}, which changes what runs.`);
  if (index !== undefined) {
    at.word(index, at);
    readIndex(index, at);
  }
  const dynamic: ReadWord = { text, source: text, dynamic: true, splits: false, prefix: `${name}=` };
  if (value.type === "ArrayValue") {
    at.notes.untrusted.add(name);
    for (const element of value.elements) {
      at.word(element, at);
      if (element.text.startsWith("[")) at.notes.unclear.add(`The index in ${quoted(element.text)} is evaluated.`);
    }
    return dynamic;
  }
  const read = at.word(value, at);
  const counted = value.parts?.length === 1 && value.parts[0]?.type === "ArithmeticExpansion";
  noteAssigned(name, counted ? "0" : append === true ? undefined : read.text, at);
  if (read.dynamic || index !== undefined) return { ...dynamic, prefix: `${name}=${read.prefix}` };
  const whole = `${name}${append === true ? "+" : ""}=${read.text}`;
  return { text: whole, source: text, dynamic: false, splits: false, prefix: whole };
}
