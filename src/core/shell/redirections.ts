import type { HereDoc, HereString, Redirection } from "unbash";
import { plain, quoted, type At, type Input } from "./reading.ts";
import { changesWhatRuns } from "./variables.ts";
import { readParts } from "./words.ts";

/** Files that take or give nothing that matters. */
const HARMLESS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);
/** The target of a copy of a descriptor: `2`, `2-`, `-`. */
const DESCRIPTOR = /^(?:[0-9]+-?|-)$/;

/** Reads redirections in order; says what they put on standard input, if anything. */
export function readRedirections(redirections: readonly Redirection[], at: At): Input {
  let input: Input = { kind: "none" };
  for (const redirection of redirections) {
    const { descriptor } = redirection;
    if (descriptor?.type === "FileDescriptorVariable" && changesWhatRuns(descriptor.name))
      at.notes.unclear.add(`It sets ${descriptor.name}, which changes what runs.`);
    // Which descriptor a command takes its input from can be juggled; any redirection of input counts as standard input.
    const given = readRedirection(redirection, at);
    if (given !== undefined) input = input.kind === "none" ? given : { kind: "unknown" };
  }
  return input;
}

function readRedirection(redirection: Redirection, at: At): Input | undefined {
  switch (redirection.type) {
    case "HereDoc":
      return readHereDoc(redirection, at);
    case "HereString":
      return readHereString(redirection, at);
    case "Redirect":
      break;
    default:
      unknown(redirection, at);
      return { kind: "unknown" };
  }
  const { operator, target } = redirection;
  if (target === undefined) {
    at.notes.unclear.add(`The redirection ${operator} has no target.`);
    return { kind: "unknown" };
  }
  const path = at.word(target, at);
  const substitution = target.parts?.length === 1 && target.parts[0]?.type === "ProcessSubstitution";
  const file = !substitution && (path.dynamic || !HARMLESS.has(path.text));
  switch (operator) {
    case ">":
    case ">>":
    case ">|":
    case "&>":
    case "&>>":
      if (file) at.notes.writes.push({ path: plain(path), how: operator });
      return undefined;
    case ">&":
      if (file && (path.dynamic || !DESCRIPTOR.test(path.text)))
        at.notes.writes.push({ path: plain(path), how: operator });
      return undefined;
    case "<>":
      if (file) {
        at.notes.reads.push(plain(path));
        at.notes.writes.push({ path: plain(path), how: operator });
      }
      return { kind: "unknown" };
    case "<":
      if (file) at.notes.reads.push(plain(path));
      return { kind: "unknown" };
    case "<&":
      return { kind: "unknown" };
    default:
      unknown(operator, at);
      return { kind: "unknown" };
  }
}

function readHereDoc({ body, closing, delimiter, operator }: HereDoc, at: At): Input {
  if (closing === undefined || delimiter === undefined) at.notes.unclear.add("A heredoc has no end.");
  if (at.rewritten)
    at.notes.unclear.add("Shells differ on where a command ends that follows a heredoc in a substitution.");
  if (delimiter?.quoted === true) {
    const text = operator === "<<-" ? body.text.replaceAll(/^\t+/gm, "") : body.text;
    return { kind: "text", text };
  }
  readParts(body.parts, at);
  const verbatim = !/[\\$`]/.test(body.text) && operator === "<<";
  return verbatim ? { kind: "text", text: body.text } : { kind: "unknown" };
}

function readHereString({ target }: HereString, at: At): Input {
  if (target === undefined) {
    at.notes.unclear.add("A here-string has no text.");
    return { kind: "unknown" };
  }
  const word = at.word(target, at);
  return word.dynamic ? { kind: "unknown" } : { kind: "text", text: word.text };
}

function unknown(node: never, at: At): void {
  at.notes.unclear.add(`It has a redirection that is not understood (${quoted(String(node))}).`);
}
