import type { ArithmeticExpression, Word, WordPart } from "unbash";
import { quoted, readSubstitution, type At } from "./reading.ts";
import { changesWhatRuns, isIdentifier } from "./variables.ts";

/**
 * Arithmetic is not harmless: `$((x))` evaluates the text that x holds, and the text `a[$(rm y)]` runs rm. So a variable
 * may take part only when this very line gives it a number and nothing else.
 */

type ReadParts = (parts: readonly WordPart[] | undefined, at: At) => boolean;

const NUMBER = /^(?:0[xX][0-9a-fA-F]+|[0-9]+(?:#[0-9a-zA-Z@_]+)?)$/;
const VARIABLE = /^\$?\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/;
/** Expansions that are always a number. */
const NUMERIC = /^(?:\$[#?$!]|\$\{#[A-Za-z_@*][A-Za-z0-9_]*(?:\[[@*]\])?\})$/;

export function readArithmetic(
  expression: ArithmeticExpression | undefined,
  source: string,
  at: At,
  readParts: ReadParts,
): void {
  if (expression === undefined) {
    at.notes.unclear.add(`The arithmetic in ${quoted(source)} is not understood.`);
    return;
  }
  const visit = (node: ArithmeticExpression): void => {
    switch (node.type) {
      case "ArithmeticBinary":
        visit(node.left);
        visit(node.right);
        if (node.operator.endsWith("=") && !/^(?:[=!<>]=)$/.test(node.operator)) assign(node.left);
        return;
      case "ArithmeticUnary":
        visit(node.operand);
        return;
      case "ArithmeticTernary":
        visit(node.test);
        visit(node.consequent);
        visit(node.alternate);
        return;
      case "ArithmeticGroup":
        visit(node.expression);
        return;
      case "ArithmeticWord":
        readParts(node.parts, at);
        evaluate(node.value, at);
        return;
      case "ArithmeticCommandExpansion": {
        at.notes.unclear.add(`What ${quoted(node.text)} prints is evaluated as arithmetic, which can run commands.`);
        readSubstitution(node.script, "$(…)", at);
        return;
      }
      default:
        unknown(node);
    }
  };
  const assign = (target: ArithmeticExpression): void => {
    if (target.type === "ArithmeticWord" && isIdentifier(target.value)) {
      if (changesWhatRuns(target.value)) at.notes.unclear.add(`It sets ${target.value}, which changes what runs.`);
      at.notes.numbers.add(target.value);
    }
  };
  const unknown = (node: never): void => {
    at.notes.unclear.add(`The arithmetic in ${quoted(source)} is not understood (${String(node)}).`);
  };
  visit(expression);
}

/** The index of an array, or a place in a string: evaluated as arithmetic too. */
export function readIndex(word: Word, at: At): void {
  const text = word.text.trim();
  if (text === "@" || text === "*") return;
  evaluate(text.replace(/^"(.*)"$/s, "$1").replace(/^\s*-?\s*/, ""), at);
}

/** Whether a word can be counted with; remembers the variable that it depends on. */
export function evaluate(text: string, at: At): void {
  if (text === "" || NUMBER.test(text) || NUMERIC.test(text)) return;
  const name = VARIABLE.exec(text)?.[1];
  if (name === undefined) at.notes.unclear.add(`${quoted(text)} is evaluated as arithmetic, which can run commands.`);
  else at.notes.counted.add(name);
}

/** After the whole line is read: a counted variable must hold a number, whatever ran before. */
export function checkCounted({ notes }: At): void {
  for (const name of notes.counted) {
    if (notes.numbers.has(name) && !notes.untrusted.has(name)) continue;
    notes.unclear.add(`${name} is evaluated as arithmetic, which can run commands, and its value is not known.`);
  }
}

/** Notes what an assignment puts into a variable. */
export function noteAssigned(name: string, value: string | undefined, at: At): void {
  if (value !== undefined && (NUMBER.test(value) || NUMERIC.test(value))) at.notes.numbers.add(name);
  else at.notes.untrusted.add(name);
}
