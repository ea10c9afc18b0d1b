import type { TurnEnd } from "../../../core/ports/engine.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { AnswerBlock } from "../model/wire.ts";
import { Repetition } from "./repetition.ts";

/** How a line ended. */
export type LineEnd = Omit<TurnEnd, "usage"> & {
  /** The last words of the model. */
  readonly text: string;
};

/** An answer may be cut off at its longest this often in a row. */
export const MAX_CUTS = 3;
/** The model is asked for its structured output this often, and may get it wrong this often. */
export const MAX_OUTPUT_ATTEMPTS = 5;

export const CUT =
  "[Your answer was cut off because it reached the most tokens an answer may have. Continue right where it ends; write long files or results in several smaller steps.]";
export const CALL_CUT =
  "[Your answer was cut off in the middle of a tool call because it reached the most tokens an answer may have. That call was not run. Make it again with a shorter input, or in several smaller steps.]";
export const EMPTY = "[Your answer was empty. Say what you have to say, or that you are done.]";

/** What is counted while a line runs. */
export class Run {
  readonly repetition = new Repetition();
  steps = 0;
  cuts = 0;
  overflows = 0;
  outputAttempts = 0;
  wasEmpty = false;
  isPaused = false;
}

export function textOf(blocks: readonly AnswerBlock[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export const NO_MATCH: LineEnd = {
  outcome: "failed",
  text: "",
  error: new CapstanError(
    "output_invalid",
    "The model's answers did not match the output schema. Loosen it or say more in the instructions.",
  ),
};

export const NO_OUTPUT: LineEnd = {
  outcome: "failed",
  text: "",
  error: new CapstanError(
    "output_invalid",
    "The model ended without giving the structured output it was asked for. Send the message again.",
  ),
};
