import { nearest } from "../../../core/text/nearest.ts";
import type { Choice } from "../../ask/ask-prompts.ts";
import type { Chat } from "../chat.ts";

/** What a command of the chat may do beside what the chat itself can. */
export interface Room {
  readonly chat: Chat;
  /**
   * Lets the person choose; undefined when they go back, or where nobody can be asked: there the choices are printed, with
   * `how` to say which one.
   */
  choose<Value extends string>(
    message: string,
    choices: readonly Choice<Value>[],
    how: string,
  ): Promise<Value | undefined>;
  /** An empty screen. */
  clear(): void;
  quit(): void;
}

/** A command of the chat, written as `/name words`. */
export interface ChatCommand {
  readonly name: string;
  /** The words it takes, for the help. */
  readonly words?: string;
  readonly about: string;
  run(room: Room, words: string): Promise<void> | void;
}

/** Undefined for what is a message: a path begins with a slash too. */
export function readCommand(text: string): { readonly name: string; readonly words: string } | undefined {
  const [, name, words = ""] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  return name === undefined || text.startsWith(" ") ? undefined : { name, words: words.trim() };
}

export function unknownCommand(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  const meant = close === undefined ? "" : ` Did you mean /${close}?`;
  return `There is no command /${name}.${meant} /help lists them; a space before the slash sends it as a message.`;
}
