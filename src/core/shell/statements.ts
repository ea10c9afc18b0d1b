import type { CompoundList, Function as FunctionNode, ParsedScript, Statement, TestExpression, Word } from "unbash";
import { evaluate, readArithmetic } from "./arithmetic.ts";
import { isPlainAscii } from "./characters.ts";
import { deeper, plain, quoted, type At } from "./reading.ts";
import { readRedirections } from "./redirections.ts";
import { readSimpleCommand } from "./simple-command.ts";
import { changesWhatRuns, isIdentifier } from "./variables.ts";
import { readParts } from "./words.ts";

type Node = Statement["command"] | CompoundList | FunctionNode["body"];

/** Reads every command of a script, however deep. */
export function readScript(script: ParsedScript | undefined, at: At): void {
  if (script === undefined) {
    at.notes.unclear.add("A part of it could not be read.");
    return;
  }
  // Only what the outermost list defines, one after the other, is sure to exist in what follows.
  const functions = new Set(at.functions);
  const here: At = { ...at, functions };
  for (const { command, background } of script.commands) {
    readNode(command, here);
    if (command.type === "Function" && background !== true && at.depth === 0) functions.add(command.name.text);
  }
  // Last, because the parser looks into some words only when they are read.
  for (const { message } of script.errors ?? []) at.notes.unclear.add(`It is not valid shell syntax: ${message}.`);
}

function readList(list: CompoundList | undefined, at: At): void {
  for (const { command } of list?.commands ?? []) readNode(command, at);
}

function readNode(node: Node, at: At): void {
  switch (node.type) {
    case "Command":
      readSimpleCommand(node, at);
      return;
    case "Pipeline":
    case "AndOr":
      for (const command of node.commands) readNode(command, at);
      return;
    case "CompoundList":
      readList(node, at);
      return;
    case "Subshell":
    case "BraceGroup":
      readList(node.body, at);
      return;
    case "Redirected":
      readRedirections(node.redirects, at);
      readNode(node.command, at);
      return;
    case "If":
      for (const branch of [node, ...node.elif]) {
        readList(branch.clause, at);
        readList(branch.then, at);
      }
      readList(node.else, at);
      return;
    case "While":
      readList(node.clause, at);
      readList(node.body, at);
      return;
    case "For":
    case "Select":
      readLoopVariable(node.name, node.wordlist, at);
      if (node.type === "Select") at.notes.untrusted.add("REPLY");
      readList(node.body, at);
      return;
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) readArithmetic(part, "for ((…))", at, readParts);
      readList(node.body, at);
      return;
    case "ArithmeticCommand":
      readArithmetic(node.expression, node.body, at, readParts);
      return;
    case "Case":
      at.word(node.word, at);
      for (const item of node.items) {
        for (const pattern of item.pattern) at.word(pattern, at);
        readList(item.body, at);
      }
      return;
    case "TestCommand":
      readTest(node.expression, at);
      return;
    case "Function":
      readFunction(node, at);
      return;
    case "Coproc":
      at.notes.unclear.add("It starts a coprocess.");
      readNode(node.body, at);
      return;
    default:
      unknown(node, at);
  }
}

function readLoopVariable(name: Word, words: readonly Word[] | undefined, at: At): void {
  if (!isIdentifier(name.text)) at.notes.unclear.add(`${quoted(name.text)} is not the name of a variable.`);
  if (changesWhatRuns(name.text)) at.notes.unclear.add(`It sets ${name.text}, which changes what runs.`);
  const read = (words ?? []).map((word) => at.word(word, at));
  at.notes.loops.push(...read.map(plain));
  const numeric = words !== undefined && read.every(({ text, dynamic }) => !dynamic && /^[0-9]+$/.test(text));
  (numeric ? at.notes.numbers : at.notes.untrusted).add(name.text);
}

function readFunction({ name, body }: FunctionNode, at: At): void {
  if (!isPlainAscii(name.text) || name.text !== name.value)
    at.notes.unclear.add(`The function name ${quoted(name.text)} is not plain.`);
  const inside = deeper(at, `function ${name.text}`);
  if (inside !== undefined) readNode(body, inside);
}

/** Operators of `[[ … ]]` whose operands are evaluated as arithmetic. */
const COUNTING = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

function readTest(expression: TestExpression, at: At): void {
  switch (expression.type) {
    case "TestUnary":
      at.word(expression.operand, at);
      if ((expression.operator === "-v" || expression.operator === "-R") && !isIdentifier(expression.operand.text))
        at.notes.unclear.add(`[[ ${expression.operator} ]] evaluates ${quoted(expression.operand.text)}.`);
      return;
    case "TestBinary":
      at.word(expression.left, at);
      at.word(expression.right, at);
      if (COUNTING.has(expression.operator))
        for (const { text } of [expression.left, expression.right]) evaluate(text.replace(/^"(.*)"$/s, "$1"), at);
      return;
    case "TestLogical":
      for (const operand of expression.operands) readTest(operand, at);
      return;
    case "TestNot":
      readTest(expression.operand, at);
      return;
    case "TestGroup":
      readTest(expression.expression, at);
      return;
    default:
      unknown(expression, at);
  }
}

/** A kind that this version of the parser is not known to make: never passed over in silence. */
function unknown(node: never, at: At): void {
  const { type } = node as { readonly type?: unknown };
  at.notes.unclear.add(`It has syntax that is not understood (${String(type)}).`);
}
