import type { ArithmeticExpression, WordPart } from "unbash";
import { readSubstitution, type At } from "./reading.ts";

/** Lists the commands in arithmetic. No rule can allow it, because it runs code in its variables: `x='a[$(rm y)]'`. */
export function readArithmetic(
  expression: ArithmeticExpression | undefined,
  at: At,
  readParts: (parts: readonly WordPart[] | undefined, at: At) => void,
): void {
  if (expression === undefined) return;
  const visit = (...nodes: readonly ArithmeticExpression[]): void => {
    for (const node of nodes) readArithmetic(node, at, readParts);
  };
  switch (expression.type) {
    case "ArithmeticBinary":
      return visit(expression.left, expression.right);
    case "ArithmeticUnary":
      return visit(expression.operand);
    case "ArithmeticTernary":
      return visit(expression.test, expression.consequent, expression.alternate);
    case "ArithmeticGroup":
      return visit(expression.expression);
    case "ArithmeticWord":
      return readParts(expression.parts, at);
    case "ArithmeticCommandExpansion":
      return readSubstitution(expression.script, "$(…)", at);
  }
}
