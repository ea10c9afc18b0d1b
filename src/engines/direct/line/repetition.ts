import { createHash } from "node:crypto";
import { CapstanError } from "../../../core/errors.ts";
import type { ToolReturn } from "../../../core/session/history.ts";
import type { MadeCall } from "./calls.ts";

/** From then on the model is told, … */
const TOLD_AT = 5;
/** … and then the turn ends. */
const ENDS_AT = 30;

/** Notices a model that makes the same calls again and again, and gets the same results. */
export class Repetition {
  #last = "";
  #times = 0;

  /** What is to be told to the model; throws when it has gone on for too long. */
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
        `The model called ${names} ${this.#times} times in a row with the same input and the same result, and did not stop when it was told. Send a message that says what to do instead.`,
        { data: { tools: names, times: this.#times } },
      );
    if (this.#times < TOLD_AT) return undefined;
    return `[You have called ${names} ${this.#times} times in a row with the same input, and the result was the same each time. Do something else, or say what you know and stop. The turn ends after ${ENDS_AT} times.]`;
  }
}
