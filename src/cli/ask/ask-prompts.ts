import { setTimeout as sleep } from "node:timers/promises";
import type { CANCEL_SYMBOL } from "@clack/prompts";
import { colour, columns } from "../terminal/text.ts";

/** Somebody else answered, or there is nothing left to answer, while a prompt was open. */
export class Gone extends Error {}

/** Why a signal aborts when there is no terminal any more: nothing may be written to it or read from it. */
export const NO_TERMINAL = new Error("The terminal is gone.");

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/** Questions on the terminal. Each resolves to undefined when the person goes back (Escape or Ctrl-C); throws `Gone`. */
export interface Prompts {
  choose<Value extends string>(
    message: string,
    choices: readonly Choice<Value>[],
    options?: PromptOptions,
  ): Promise<Value | undefined>;
  chooseSeveral(
    message: string,
    choices: readonly Choice<string>[],
    options?: PromptOptions,
  ): Promise<readonly string[] | undefined>;
  line(message: string, options?: LineOptions): Promise<string | undefined>;
}

interface PromptOptions {
  /** There is nothing to go back to: leaving it ends the turn, which Ctrl-C does everywhere, and Escape only in a chat. */
  readonly isFirst?: boolean;
}

interface LineOptions extends PromptOptions {
  readonly initial?: string;
  /** What is wrong with it, in a sentence. */
  readonly validate?: (text: string) => string | undefined;
}

/** Long enough for what was typed to arrive, too short to be noticed. */
const SETTLE_MS = 60;

/**
 * Loaded only when a question comes up, so that every other run starts without it. `escapeEnds`: Escape at a first question
 * ends the turn, as everywhere in a chat; else it does nothing there, so that a stray one ends no run.
 */
export async function openPrompts(
  signal: AbortSignal,
  { escapeEnds = false }: { readonly escapeEnds?: boolean } = {},
): Promise<Prompts> {
  const clack = await import("@clack/prompts");
  // A terminal without a size says 0, and the library would take it at its word.
  if (process.stdout.columns === 0) process.stdout.columns = columns();
  if (process.stdout.rows === 0) process.stdout.rows = 24;
  await dropTypedAhead();
  // Letters that stand for arrows would let words of a message move the choice.
  for (const letter of "hjkl") clack.settings.aliases.delete(letter);
  const put = async <Given>(
    prompt: () => Promise<Given | typeof CANCEL_SYMBOL>,
    { isFirst = false }: PromptOptions = {},
  ): Promise<Given | undefined> => {
    if (signal.aborted) throw new Gone();
    // The library knows one way out for both keys.
    if (isFirst && !escapeEnds) clack.settings.aliases.delete("escape");
    else clack.settings.aliases.set("escape", "cancel");
    const lost = Promise.withResolvers<never>();
    const onAbort = (): void => (signal.reason === NO_TERMINAL ? lost.reject(new Gone()) : pressCancel());
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const given = await Promise.race([prompt(), lost.promise]);
      // The library leaves the option under the cursor on the screen, as if it had been chosen.
      if (clack.isCancel(given)) process.stdout.write(`${colour.dim("└  cancelled")}\n`);
      if (signal.aborted) throw new Gone();
      return clack.isCancel(given) ? undefined : given;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };
  const asking = (message: string, { isFirst = false }: PromptOptions = {}): string =>
    isFirst && escapeEnds ? `${message} ${colour.dim("(Esc interrupts)")}` : message;
  return {
    async choose(message, choices, options) {
      using typing = new Typing();
      for (
        let asked = asking(message, options);
        ;
        asked = `${message} (words are no answer: choose with the arrows, then Enter)`
      ) {
        const given = await put(() => clack.select<string>({ message: asked, options: [...choices] }), options);
        if (given === undefined || !typing.taken) return choices.find(({ value }) => value === given)?.value;
      }
    },
    chooseSeveral: (message, choices, options) =>
      put(() => clack.multiselect<string>({ message: asking(message, options), options: [...choices] }), options),
    line: (message, { initial, validate, ...options } = {}) =>
      put(
        () =>
          clack.text({
            message: asking(message, options),
            ...(initial !== undefined && { initialValue: initial }),
            ...(validate !== undefined && { validate: (text: string | undefined) => validate(text ?? "") }),
          }),
        options,
      ),
  };
}

/** Whether words were typed since somebody last moved the choice: their Enter was meant for something else. */
class Typing implements Disposable {
  #isTyping = false;
  readonly #onKey = (text: string | undefined, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "up" || key?.name === "down") this.#isTyping = false;
    else if (text !== undefined && /^[^\p{C}\s]$/u.test(text)) this.#isTyping = true;
  };

  constructor() {
    process.stdin.on("keypress", this.#onKey);
  }

  get taken(): boolean {
    const wasTyping = this.#isTyping;
    this.#isTyping = false;
    return wasTyping;
  }

  [Symbol.dispose](): void {
    process.stdin.off("keypress", this.#onKey);
  }
}

/** The library's own signal leaves the open list on the screen; a key that cancels folds it away. */
function pressCancel(): void {
  process.stdin.emit("keypress", "\u0003", { name: "c", ctrl: true, sequence: "\u0003" });
}

function drop(): void {}

/** The library sets the mode of a terminal that has ended, which fails where nobody can catch it. */
function keepMode(): void {
  process.stdin.setRawMode = () => process.stdin;
}

/** What was typed before a question was on the screen is no answer to it. */
async function dropTypedAhead(): Promise<void> {
  const { stdin } = process;
  // A terminal that goes away is told of by a signal.
  stdin.off("error", drop).on("error", drop);
  stdin.off("end", keepMode).prependListener("end", keepMode);
  stdin.setRawMode(true);
  stdin.on("data", drop);
  stdin.resume();
  await sleep(SETTLE_MS);
  stdin.off("data", drop);
  stdin.pause();
}
