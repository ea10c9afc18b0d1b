import { setTimeout as sleep } from "node:timers/promises";
import type { CANCEL_SYMBOL } from "@clack/prompts";
import { color, columns } from "../terminal/text.ts";

/** Someone else answered, or the question became obsolete, while the prompt was open. */
export class PromptAborted extends Error {}

/** The abort reason when the terminal is gone: nothing may be read from or written to it. */
export const NO_TERMINAL = new Error("The terminal was closed.");

export interface PromptChoice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/** Questions on the terminal. Each resolves to undefined on Escape or Ctrl-C, and throws `PromptAborted`. */
export interface Prompts {
  choose<Value extends string>(
    message: string,
    choices: readonly PromptChoice<Value>[],
    options?: PromptOptions,
  ): Promise<Value | undefined>;
  chooseSeveral(
    message: string,
    choices: readonly PromptChoice<string>[],
    options?: PromptOptions,
  ): Promise<readonly string[] | undefined>;
  line(message: string, options?: LineOptions): Promise<string | undefined>;
}

interface PromptOptions {
  /** The first question: canceling it interrupts the turn. Ctrl-C always cancels; Escape only in a chat. */
  readonly isFirst?: boolean;
}

interface LineOptions extends PromptOptions {
  readonly initial?: string;
  /** Returns an error message if the text is not acceptable. */
  readonly validate?: (text: string) => string | undefined;
}

/** Long enough for earlier keystrokes to arrive, too short to be noticed. */
const SETTLE_MS = 60;

/**
 * Imports the prompt library lazily, to start faster. `escapeEnds`: Escape at a first question interrupts the turn, as
 * in a chat; otherwise it does nothing there, so that a stray key does not end a run.
 */
export async function openPrompts(
  signal: AbortSignal,
  { escapeEnds = false }: { readonly escapeEnds?: boolean } = {},
): Promise<Prompts> {
  const clack = await import("@clack/prompts");
  // A terminal without a size reports 0, which the library cannot handle.
  if (process.stdout.columns === 0) process.stdout.columns = columns();
  if (process.stdout.rows === 0) process.stdout.rows = 24;
  await dropTypedAhead();
  // Otherwise letters of a message being typed would move the selection.
  for (const letter of "hjkl") clack.settings.aliases.delete(letter);
  const put = async <Given>(
    prompt: () => Promise<Given | typeof CANCEL_SYMBOL>,
    { isFirst = false }: PromptOptions = {},
  ): Promise<Given | undefined> => {
    if (signal.aborted) throw new PromptAborted();
    // The library treats Escape and Ctrl-C alike.
    if (isFirst && !escapeEnds) clack.settings.aliases.delete("escape");
    else clack.settings.aliases.set("escape", "cancel");
    const lost = Promise.withResolvers<never>();
    const onAbort = (): void => (signal.reason === NO_TERMINAL ? lost.reject(new PromptAborted()) : pressCancel());
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const given = await Promise.race([prompt(), lost.promise]);
      // Otherwise the option under the cursor looks as if it had been chosen.
      if (clack.isCancel(given)) process.stdout.write(`${color.dim("└  canceled")}\n`);
      if (signal.aborted) throw new PromptAborted();
      return clack.isCancel(given) ? undefined : given;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };
  const withHint = (message: string, { isFirst = false }: PromptOptions = {}): string =>
    isFirst && escapeEnds ? `${message} ${color.dim("(Esc to interrupt)")}` : message;
  return {
    async choose(message, choices, options) {
      using typing = new Typing();
      for (
        let shown = withHint(message, options);
        ;
        shown = `${message} (choose with the arrow keys, then press Enter)`
      ) {
        const given = await put(() => clack.select<string>({ message: shown, options: [...choices] }), options);
        if (given === undefined || !typing.taken) return choices.find(({ value }) => value === given)?.value;
      }
    },
    chooseSeveral: (message, choices, options) =>
      put(() => clack.multiselect<string>({ message: withHint(message, options), options: [...choices] }), options),
    line: (message, { initial, validate, ...options } = {}) =>
      put(
        () =>
          clack.text({
            message: withHint(message, options),
            ...(initial !== undefined && { initialValue: initial }),
            ...(validate !== undefined && { validate: (text: string | undefined) => validate(text ?? "") }),
          }),
        options,
      ),
  };
}

/** Detects typing since the selection last moved: such an Enter was meant for something else. */
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

/** Presses Ctrl-C, because the library's own signal leaves the open list on the screen. */
function pressCancel(): void {
  process.stdin.emit("keypress", "\u0003", { name: "c", ctrl: true, sequence: "\u0003" });
}

function drop(): void {}

/** Prevents the library from setting the mode of a closed terminal, which throws an uncatchable error. */
function keepMode(): void {
  process.stdin.setRawMode = () => process.stdin;
}

/** Discards keys that were pressed before the question appeared. */
async function dropTypedAhead(): Promise<void> {
  const { stdin } = process;
  // A signal reports a closed terminal.
  stdin.off("error", drop).on("error", drop);
  stdin.off("end", keepMode).prependListener("end", keepMode);
  stdin.setRawMode(true);
  stdin.on("data", drop);
  stdin.resume();
  await sleep(SETTLE_MS);
  stdin.off("data", drop);
  stdin.pause();
}
