import type { ParameterExpansionPart, Word, WordPart } from "unbash";
import { readArithmetic } from "./arithmetic.ts";
import type { WrittenWord } from "./grammar/written-command.ts";
import { readSubstitution, type At, type ReadWord } from "./reading.ts";

/** What a word's parts reveal about it. */
interface Shape {
  dynamic: boolean;
  splits: boolean;
  /** The text known before the first dynamic part. */
  prefix: string;
}

/** Reads a word: its value, and the commands that its substitutions run. */
export function readWord(word: Word, at: At): ReadWord {
  const shape: Shape = { dynamic: false, splits: false, prefix: "" };
  if (word.parts === undefined) readLiteral(word.text, word.value, shape);
  else for (const part of word.parts) readPart(part, shape, at, false);
  const text = shape.dynamic ? word.text : word.value;
  return { text, source: word.text, dynamic: shape.dynamic, splits: shape.splits, prefix: shape.prefix };
}

/** A word for the comparison with the grammar. */
export function writtenForm({ source, text, dynamic }: ReadWord): WrittenWord {
  return { source, value: dynamic ? undefined : text };
}

/** Reads parts that are not a word of a command: the body of a heredoc, an operand of `${…}`. */
export function readParts(parts: readonly WordPart[] | undefined, at: At): void {
  const shape: Shape = { dynamic: false, splits: false, prefix: "" };
  for (const part of parts ?? []) readPart(part, shape, at, true);
}

function readPart(part: WordPart, shape: Shape, at: At, inQuotes: boolean): void {
  switch (part.type) {
    case "Literal":
      if (inQuotes) extend(shape, part.value);
      else readLiteral(part.text, part.value, shape);
      return;
    case "SingleQuoted":
    case "AnsiCQuoted":
      return extend(shape, part.value);
    case "DoubleQuoted":
    case "LocaleString":
      for (const child of part.parts) readPart(child, shape, at, true);
      return;
    case "Glob":
    case "BraceExpansion":
    case "ExtendedGlob":
      open(shape, true);
      return readParts(part.parts, at);
    case "SimpleExpansion":
      return open(shape, part.text === "$@" || (!inQuotes && !ONE_NUMBER.has(part.text)));
    case "ParameterExpansion":
      open(shape, !inQuotes || part.text !== `\${${part.parameter}}` || part.parameter === "@");
      return readParameter(part, at);
    case "CommandExpansion":
      open(shape, !inQuotes);
      return readSubstitution(part.script, "$(…)", at);
    case "ProcessSubstitution":
      open(shape, false);
      return readSubstitution(part.script, `${part.operator}(…)`, at);
    case "ArithmeticExpansion":
      open(shape, !inQuotes);
      return readArithmetic(part.expression, at, readParts);
    default:
      unknown(part, at);
      open(shape, true);
  }
}

/** `$#`, `$?` and the like are always one number; the rest can be anything. */
const ONE_NUMBER = new Set(["$#", "$?", "$$", "$!"]);

/** Text outside quotes, where a tilde is expanded. */
function readLiteral(source: string, value: string, shape: Shape): void {
  // It is expanded at the start of a word, and after = and : in what looks like an assignment.
  const tilde = /(?:^|[=:])~/.exec(source);
  if (tilde !== null && (tilde[0] !== "~" || shape.prefix === "")) {
    extend(shape, value.slice(0, tilde.index));
    open(shape, false);
  } else extend(shape, value);
}

/** The commands inside `${…}`. */
function readParameter({ index, operation }: ParameterExpansionPart, at: At): void {
  if (index !== undefined) at.word(index, at);
  switch (operation?.type) {
    case "Default":
    case "Remove":
    case "CaseModification":
    case "Transform":
      return readParts(operation.operand?.parts, at);
    case "Replace":
      readParts(operation.pattern.parts, at);
      return readParts(operation.replacement.parts, at);
    case "Slice":
      readParts(operation.offset.parts, at);
      return readParts(operation.length?.parts, at);
    case "Names":
    case "Unknown":
    case undefined:
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

/** A node kind that this version of the parser should not produce: never skipped silently. */
function unknown(node: never, at: At): void {
  const { type } = node as { readonly type?: unknown };
  at.notes.unclear.add(`It contains syntax that is not understood (${String(type)}).`);
}
