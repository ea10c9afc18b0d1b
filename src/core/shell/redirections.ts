import type { HereDoc, HereString, Redirection } from "unbash";
import type { WrittenRedirection, WrittenWord } from "./grammar/written-command.ts";
import { plainWord, quoteExcerpt, type At, type StandardInput } from "./reading.ts";
import { readParts, writtenForm } from "./words.ts";

/** Files that are irrelevant as a source or target. */
const HARMLESS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);
/** The target of a copy of a descriptor: `2`, `2-`, `-`. */
const DESCRIPTOR = /^(?:[0-9]+-?|-)$/;

interface Read {
  /** What they put on standard input, if anything. */
  readonly input: StandardInput;
  /** For the comparison with the grammar. */
  readonly written: readonly WrittenRedirection[];
}

interface ReadOne {
  readonly input?: StandardInput;
  readonly target: WrittenWord;
}

/** Reads redirections in order. */
export function readRedirections(redirections: readonly Redirection[], at: At): Read {
  let input: StandardInput = { kind: "none" };
  const written = redirections.map((redirection): WrittenRedirection => {
    // Descriptors can be juggled, so any redirection of input counts as standard input.
    const { input: given, target } = readRedirection(redirection, at);
    if (given !== undefined) input = input.kind === "none" ? given : { kind: "unknown" };
    const { descriptor, operator } = redirection;
    const number = descriptor?.type === "FileDescriptor" ? String(descriptor.value) : (descriptor?.name ?? "");
    return { descriptor: number, operator, target };
  });
  return { input, written };
}

const UNKNOWN: StandardInput = { kind: "unknown" };

function readRedirection(redirection: Redirection, at: At): ReadOne {
  if (redirection.type === "HereDoc") return readHereDoc(redirection, at);
  if (redirection.type === "HereString") return readHereString(redirection, at);
  const { operator, target } = redirection;
  if (target === undefined) {
    at.notes.unclear.add(`The redirection ${operator} has no target.`);
    return { input: UNKNOWN, target: { source: "", value: undefined } };
  }
  const path = at.word(target, at);
  const substitution = target.parts?.length === 1 && target.parts[0]?.type === "ProcessSubstitution";
  const file = !substitution && (path.dynamic || !HARMLESS.has(path.text));
  const written = writtenForm(path);
  switch (operator) {
    case ">":
    case ">>":
    case ">|":
    case "&>":
    case "&>>":
      if (file) at.notes.writes.push({ path: plainWord(path), how: operator });
      return { target: written };
    case ">&":
      if (file && (path.dynamic || !DESCRIPTOR.test(path.text)))
        at.notes.writes.push({ path: plainWord(path), how: operator });
      return { target: written };
    case "<>":
      if (file) {
        at.notes.reads.push(plainWord(path));
        at.notes.writes.push({ path: plainWord(path), how: operator });
      }
      return { input: UNKNOWN, target: written };
    case "<":
      if (file) at.notes.reads.push(plainWord(path));
      return { input: UNKNOWN, target: written };
    case "<&":
      return { input: UNKNOWN, target: written };
    default:
      unknown(operator, at);
      return { input: UNKNOWN, target: written };
  }
}

function readHereDoc({ body, closing, delimiter, operator }: HereDoc, at: At): ReadOne {
  if (closing === undefined || delimiter === undefined) at.notes.unclear.add("A here-document has no end.");
  const target = { source: "", value: body.text };
  if (delimiter?.quoted === true) {
    const text = operator === "<<-" ? body.text.replaceAll(/^\t+/gm, "") : body.text;
    return { input: { kind: "text", text }, target };
  }
  readParts(body.parts, at);
  const verbatim = !/[\\$`]/.test(body.text) && operator === "<<";
  return { input: verbatim ? { kind: "text", text: body.text } : UNKNOWN, target };
}

function readHereString({ target }: HereString, at: At): ReadOne {
  if (target === undefined) {
    at.notes.unclear.add("A here-string has no text.");
    return { input: UNKNOWN, target: { source: "", value: undefined } };
  }
  const word = at.word(target, at);
  return { input: word.dynamic ? UNKNOWN : { kind: "text", text: word.text }, target: writtenForm(word) };
}

function unknown(node: never, at: At): void {
  at.notes.unclear.add(`It contains a redirection that is not understood (${quoteExcerpt(String(node))}).`);
}
