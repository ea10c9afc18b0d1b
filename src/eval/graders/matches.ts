import { createContext, Script } from "node:vm";
import { GraderError } from "./grader.ts";
import { shortJson } from "./similarity/words.ts";

const TIMEOUT_MS = 1_000;

const context = createContext({}) as { pattern?: RegExp; text?: string };
const script = new Script("pattern.test(text)");

/**
 * Whether a text matches a pattern. Some patterns take forever on some texts and would block the whole run; in a
 * virtual machine they can be stopped. core/safe-pattern.ts would reject too many patterns that people write in tests.
 */
export function matches(pattern: RegExp, text: string): boolean {
  try {
    Object.assign(context, { pattern, text });
    return script.runInContext(context, { timeout: TIMEOUT_MS }) === true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw thrown;
    throw new GraderError(
      `the pattern ${String(pattern)} takes longer than a second on ${shortJson(text)}; write it without nested repetitions`,
    );
  }
}
