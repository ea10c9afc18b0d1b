import type { DoubleQuotedChild, ParameterExpansionPart, Word, WordPart } from "unbash";
import { readArithmetic, readIndex } from "./arithmetic.ts";
import { isHistoryExpansion, looksLikeSeparator } from "./characters.ts";
import { quoted, readSubstitution, type At, type ReadWord } from "./reading.ts";

/** What a word's parts say about it. */
interface Shape {
  dynamic: boolean;
  splits: boolean;
  /** The text known before the first dynamic part. */
  prefix: string;
}

/** Reads a word: what it is, and the commands that its substitutions run. */
export function readWord(word: Word, at: At): ReadWord {
  const shape: Shape = { dynamic: false, splits: false, prefix: "" };
  if (word.parts === undefined) readLiteral(word.text, word.value, shape, at);
  else for (const part of word.parts) readPart(part, shape, at, false);
  const text = shape.dynamic ? word.text : word.value;
  if (!shape.dynamic && text !== shape.prefix)
    at.notes.unclear.add(`The quotes in ${quoted(word.text)} are not clear.`);
  return { text, source: word.text, dynamic: shape.dynamic, splits: shape.splits, prefix: shape.prefix };
}

/** Reads parts that are not a word of a command: the body of a heredoc, an operand of `${…}`. */
export function readParts(parts: readonly WordPart[] | undefined, at: At): boolean {
  const shape: Shape = { dynamic: false, splits: false, prefix: "" };
  for (const part of parts ?? []) readPart(part, shape, at, true);
  return shape.dynamic;
}

function readPart(part: WordPart, shape: Shape, at: At, inQuotes: boolean): void {
  switch (part.type) {
    case "Literal":
      if (inQuotes) extend(shape, part.value);
      else readLiteral(part.text, part.value, shape, at);
      return;
    case "SingleQuoted":
    case "AnsiCQuoted":
      extend(shape, part.value);
      return;
    case "DoubleQuoted":
      for (const child of part.parts) readQuotedPart(child, shape, at);
      return;
    case "LocaleString":
      at.notes.unclear.add('It has a string that is translated when it runs, $"…".');
      for (const child of part.parts) readQuotedPart(child, shape, at);
      return;
    case "Glob":
      open(shape, true);
      readParts(part.parts, at);
      return;
    case "BraceExpansion":
      open(shape, true);
      readParts(part.parts, at);
      return;
    case "ExtendedGlob":
      // Bash reads these only with an option that is off by default; elsewhere they mean other things, even commands.
      at.notes.unclear.add(`The pattern ${quoted(part.text)} means different things to different shells.`);
      open(shape, true);
      readParts(part.parts, at);
      return;
    case "SimpleExpansion":
      readSimpleExpansion(part.text, shape, inQuotes);
      return;
    case "ParameterExpansion":
      open(shape, !inQuotes || expandsToMany(part));
      readParameter(part, at);
      return;
    case "CommandExpansion":
      open(shape, !inQuotes);
      readSubstitution(part.script, "$(…)", at);
      return;
    case "ProcessSubstitution":
      open(shape, false);
      readSubstitution(part.script, `${part.operator}(…)`, at);
      return;
    case "ArithmeticExpansion":
      open(shape, !inQuotes);
      readArithmetic(part.expression, part.text, at, readParts);
      return;
    default:
      unknown(part, at);
      open(shape, true);
  }
}

function readQuotedPart(part: DoubleQuotedChild, shape: Shape, at: At): void {
  if (part.type === "Literal" && isHistoryExpansion(part.text)) mentionHistory(part.text, at);
  readPart(part, shape, at, true);
}

/** Text outside quotes, where some characters still mean something. */
function readLiteral(source: string, value: string, shape: Shape, at: At): void {
  if (isHistoryExpansion(source)) mentionHistory(source, at);
  if (looksLikeSeparator(source))
    at.notes.unclear.add(`${quoted(source)} has a character that looks like a separator but is not one.`);
  // A tilde is replaced at the start of a word, and after = and : in what looks like an assignment.
  const tilde = /(?:^|[=:])~/.exec(source);
  if (tilde !== null && (tilde[0] !== "~" || shape.prefix === "")) {
    extend(shape, value.slice(0, tilde.index));
    open(shape, false);
    return;
  }
  extend(shape, value);
}

function mentionHistory(source: string, at: At): void {
  at.notes.unclear.add(`${quoted(source)} may be taken from the shell's history, for its "!".`);
}

/** `$#`, `$?` and the like are always one number; the rest can hold anything. */
const ONE_NUMBER = new Set(["$#", "$?", "$$", "$!", "${#}", "${?}"]);

function readSimpleExpansion(text: string, shape: Shape, inQuotes: boolean): void {
  open(shape, text === "$@" || (!inQuotes && !ONE_NUMBER.has(text)));
}

function expandsToMany(part: ParameterExpansionPart): boolean {
  return part.parameter === "@" || part.prefix === "!" || part.index?.text === "@" || part.operation !== undefined;
}

function readParameter(part: ParameterExpansionPart, at: At): void {
  const { operation, index } = part;
  if (index !== undefined) {
    at.word(index, at);
    readIndex(index, at);
  }
  if (part.prefix === "!" && operation?.type !== "Names" && !(index?.text === "@" || index?.text === "*"))
    at.notes.unclear.add(`${quoted(part.text)} names a variable that is only known when it runs.`);
  if (operation === undefined) return;
  switch (operation.type) {
    case "Default":
      if (operation.operator.endsWith("=")) at.notes.untrusted.add(part.parameter);
      readParts(operation.operand.parts, at);
      return;
    case "Remove":
      readParts(operation.operand.parts, at);
      return;
    case "Replace":
      readParts(operation.pattern.parts, at);
      readParts(operation.replacement.parts, at);
      return;
    case "Slice":
      for (const word of [operation.offset, operation.length]) {
        if (word === undefined) continue;
        readParts(word.parts, at);
        readIndex(word, at);
      }
      return;
    case "CaseModification":
      readParts(operation.operand?.parts, at);
      return;
    case "Transform":
      readParts(operation.operand.parts, at);
      // `@P` runs the substitutions that the variable's value holds.
      if (!/^[QEUuLAKka]$/.test(operation.operand.text))
        at.notes.unclear.add(`${quoted(part.text)} may run what the variable holds.`);
      return;
    case "Names":
      return;
    case "Unknown":
      at.notes.unclear.add(`${quoted(part.text)} is not understood.`);
      return;
    default:
      unknown(operation, at);
  }
}

function extend(shape: Shape, text: string): void {
  if (!shape.dynamic) shape.prefix += text;
}

function open(shape: Shape, splits: boolean): void {
  shape.dynamic = true;
  shape.splits ||= splits;
}

/** A kind that this version of the parser is not known to make: never passed over in silence. */
function unknown(node: never, at: At): void {
  const { type } = node as { readonly type?: unknown };
  at.notes.unclear.add(`It has syntax that is not understood (${String(type)}).`);
}
