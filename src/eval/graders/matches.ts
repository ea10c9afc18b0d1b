import { createContext, Script } from "node:vm";
import { GraderError } from "./grader.ts";
import { shown } from "./similarity/words.ts";

const TIMEOUT_MS = 1_000;

const context = createContext({}) as { pattern?: RegExp; text?: string };
const script = new Script("pattern.test(text)");

/**
 * Whether a pattern is found in a text. Some patterns need for ever on some texts, and would hold the whole run; one
 * that a virtual machine runs can be ended. core/safe-pattern.ts would refuse too much of what people write in tests.
 */
export function matches(pattern: RegExp, text: string): boolean {
  try {
    Object.assign(context, { pattern, text });
    return script.runInContext(context, { timeout: TIMEOUT_MS }) === true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw thrown;
    throw new GraderError(
      `the pattern ${String(pattern)} needs longer than a second for ${shown(text)}; write it without repetitions inside of repetitions`,
    );
  }
}
