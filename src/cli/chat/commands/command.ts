import { nearest } from "../../../core/text/nearest.ts";
import type { PromptChoice } from "../../ask/ask-prompts.ts";
import type { Chat } from "../chat.ts";

/** What a chat command can do beyond the chat itself. */
export interface Room {
  readonly chat: Chat;
  /**
   * Lets the person choose; undefined if they cancel. Without a terminal, prints the choices, and `how` to select one.
   */
  choose<Value extends string>(
    message: string,
    choices: readonly PromptChoice<Value>[],
    how: string,
  ): Promise<Value | undefined>;
  /** Clears the screen. */
  clear(): void;
  quit(): void;
}

/** A chat command, typed as `/name words`. */
export interface ChatCommand {
  readonly name: string;
  /** Its arguments, for the help. */
  readonly words?: string;
  readonly about: string;
  run(room: Room, words: string): Promise<void> | void;
}

/** Undefined for a message, which may start with a path. */
export function readCommand(text: string): { readonly name: string; readonly words: string } | undefined {
  const [, name, words = ""] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  return name === undefined || text.startsWith(" ") ? undefined : { name, words: words.trim() };
}

export function unknownCommand(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  const meant = close === undefined ? "" : ` Did you mean /${close}?`;
  return `Unknown command /${name}.${meant} For a list: /help. To send it as a message, put a space before the slash.`;
}
