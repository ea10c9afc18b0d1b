import { createHash } from "node:crypto";
import { CapstanError } from "../../../core/errors.ts";
import type { ToolReturn } from "../../../core/session/history.ts";
import type { MadeCall } from "./calls.ts";

/** From this count on the model gets a warning, … */
const TOLD_AT = 5;
/** … and then the turn ends. */
const ENDS_AT = 30;

/** Detects a model that repeats the same calls and gets the same results. */
export class Repetition {
  #last = "";
  #times = 0;

  /** Returns a warning for the model; throws when it has repeated itself too often. */
  note(calls: readonly MadeCall[], results: readonly ToolReturn[]): string | undefined {
    const made = calls.map(({ name, written, input }) => [name, input ?? written]);
    const returned = results.map(({ content, isError }) => [content, isError]);
    const mark = createHash("sha256")
      .update(JSON.stringify([made, returned]))
      .digest("hex");
    this.#times = mark === this.#last ? this.#times + 1 : 1;
    this.#last = mark;
    const names = [...new Set(calls.map(({ name }) => name))].join(", ");
    if (this.#times >= ENDS_AT)
      throw new CapstanError(
        "model_failed",
        `The model called ${names} ${this.#times} times in a row with the same input and result, and ignored a warning. Send a message that says what to do instead.`,
        { data: { tools: names, times: this.#times } },
      );
    if (this.#times < TOLD_AT) return undefined;
    return `[You have called ${names} ${this.#times} times in a row with the same input, and the result was the same each time. Do something else, or say what you know and stop. The turn ends after ${ENDS_AT} times.]`;
  }
}
