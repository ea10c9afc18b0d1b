import type { TurnEnd } from "../../../core/ports/engine.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { AnswerBlock } from "../model/wire.ts";
import { Repetition } from "./repetition.ts";

/** How a thread ended. */
export type LineEnd = Omit<TurnEnd, "usage"> & {
  /** The model's last text. */
  readonly text: string;
};

/** How often in a row an answer may reach its maximum length. */
export const MAX_CUTS = 3;
/** How often the model is asked for its structured output, and how often it may get it wrong. */
export const MAX_OUTPUT_ATTEMPTS = 5;

export const CUT =
  "[Your answer was cut off because it reached the most tokens an answer may have. Continue right where it ends; write long files or results in several smaller steps.]";
export const CALL_CUT =
  "[Your answer was cut off in the middle of a tool call because it reached the most tokens an answer may have. That call was not run. Make it again with a shorter input, or in several smaller steps.]";
export const EMPTY = "[Your answer was empty. Say what you have to say, or that you are done.]";

/** Counters of one run of a thread. */
export class Run {
  readonly repetition = new Repetition();
  steps = 0;
  cuts = 0;
  overflows = 0;
  outputAttempts = 0;
  wasEmpty = false;
  isPaused = false;
}

export function answerText(blocks: readonly AnswerBlock[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export const NO_MATCH: LineEnd = {
  outcome: "failed",
  text: "",
  error: new CapstanError(
    "output_invalid",
    "The model's answers did not match the output schema. Loosen the schema or add detail to the instructions.",
  ),
};

export const NO_OUTPUT: LineEnd = {
  outcome: "failed",
  text: "",
  error: new CapstanError(
    "output_invalid",
    "The model finished without the required structured output. Send the message again.",
  ),
};
