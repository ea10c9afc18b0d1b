import type { CompoundList, Function as FunctionNode, ParsedScript, Statement, TestExpression, Word } from "unbash";
import { readArithmetic } from "./arithmetic.ts";
import { writtenCommand, writtenLoop } from "./grammar/written-command.ts";
import { deeper, plainWord, type At } from "./reading.ts";
import { readRedirections } from "./redirections.ts";
import { readSimpleCommand } from "./simple-command.ts";
import { changesWhatRuns } from "./variables.ts";
import { readParts, writtenForm } from "./words.ts";

type Node = Statement["command"] | CompoundList | FunctionNode["body"];

/** Reads every command of a script, at any depth. */
export function readScript(script: ParsedScript | undefined, at: At): void {
  if (script === undefined) {
    at.notes.unclear.add("A part of it could not be parsed.");
    return;
  }
  for (const { command } of script.commands) readNode(command, at);
  // Last, because the parser parses some words only when they are read.
  for (const { message } of script.errors ?? []) at.notes.unclear.add(`It is not valid shell syntax: ${message}.`);
}

function readList(list: CompoundList | undefined, at: At): void {
  for (const { command } of list?.commands ?? []) readNode(command, at);
}

function readNode(node: Node, at: At): void {
  switch (node.type) {
    case "Command":
      return readSimpleCommand(node, at);
    case "Pipeline":
    case "AndOr":
      for (const command of node.commands) readNode(command, at);
      return;
    case "CompoundList":
      return readList(node, at);
    case "Subshell":
    case "BraceGroup":
      return readList(node.body, at);
    case "Redirected":
      at.written.push(writtenCommand([], [], readRedirections(node.redirects, at).written));
      return readNode(node.command, at);
    case "If":
      for (const branch of [node, ...node.elif]) {
        readList(branch.clause, at);
        readList(branch.then, at);
      }
      return readList(node.else, at);
    case "While":
      readList(node.clause, at);
      return readList(node.body, at);
    case "For":
    case "Select":
      readLoopVariable(node.name, node.wordlist, at);
      return readList(node.body, at);
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update]) readArithmetic(part, at, readParts);
      return readList(node.body, at);
    case "ArithmeticCommand":
      return readArithmetic(node.expression, at, readParts);
    case "Case":
      at.word(node.word, at);
      for (const item of node.items) {
        for (const pattern of item.pattern) at.word(pattern, at);
        readList(item.body, at);
      }
      return;
    case "TestCommand":
      return readTest(node.expression, at);
    case "Function":
      return readFunction(node, at);
    case "Coproc":
      return readNode(node.body, at);
    default:
      unknown(node, at);
  }
}

function readLoopVariable(name: Word, words: readonly Word[] | undefined, at: At): void {
  if (changesWhatRuns(name.text)) at.notes.unclear.add(`It sets ${name.text}, which changes what runs.`);
  const read = (words ?? []).map((word) => at.word(word, at));
  at.written.push(writtenLoop(name.text, read.map(writtenForm)));
  for (const word of read) at.notes.assign(name.text, plainWord(word));
  if (words === undefined) at.notes.assign(name.text, undefined);
}

function readFunction({ name, body }: FunctionNode, at: At): void {
  const inside = deeper(at, `function ${name.text}`);
  if (inside !== undefined) readNode(body, inside);
}

function readTest(expression: TestExpression, at: At): void {
  switch (expression.type) {
    case "TestUnary":
      at.word(expression.operand, at);
      return;
    case "TestBinary":
      at.word(expression.left, at);
      at.word(expression.right, at);
      return;
    case "TestLogical":
      for (const operand of expression.operands) readTest(operand, at);
      return;
    case "TestNot":
      return readTest(expression.operand, at);
    case "TestGroup":
      return readTest(expression.expression, at);
    default:
      unknown(expression, at);
  }
}

/** A node kind that this version of the parser should not produce: never skipped silently. */
function unknown(node: never, at: At): void {
  const { type } = node as { readonly type?: unknown };
  at.notes.unclear.add(`It contains syntax that is not understood (${String(type)}).`);
}
