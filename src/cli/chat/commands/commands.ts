import { colour, oneLine } from "../../terminal/text.ts";
import type { Chat } from "../chat.ts";
import { type ChatCommand, readCommand, type Room, unknownCommand } from "./command.ts";
import { FILE_COMMANDS } from "./command-files.ts";
import { MODEL_COMMANDS } from "./command-model.ts";
import { SESSION_COMMANDS } from "./command-session.ts";
import { wrapSpans } from "../view/spans.ts";

const COMMANDS: readonly ChatCommand[] = [
  { name: "help", about: "commands and keys", run: ({ chat }) => chat.page.lines(helpLines(chat)) },
  ...MODEL_COMMANDS,
  ...FILE_COMMANDS,
  ...SESSION_COMMANDS,
  { name: "quit", about: "leave; the session stays, and the way back is told", run: (room) => room.quit() },
];

const KEYS: readonly (readonly [keys: string, about: string])[] = [
  ["Enter", "send; while the agent works, the message waits for it"],
  ["Alt-Enter, \\ Enter", "a new line"],
  ["Esc", "interrupt the turn, also at a question"],
  ["Ctrl-C", "clear the input; twice: leave"],
  ["Ctrl-O", "unfold tool calls, or fold them again"],
  ["Up, Down", "what was written before"],
  ["Tab", "complete a command"],
];

/** A command as lists of them show it. */
export interface Listed {
  readonly name: string;
  readonly words: string;
  readonly about: string;
}

/** Those of the chat, then the agent's own. */
function listCommands(chat: Chat): readonly Listed[] {
  const own = Object.entries(chat.agent?.commands ?? {}).filter(([name]) => !COMMANDS.some((one) => one.name === name));
  return [
    ...COMMANDS.map(({ name, words = "", about }) => ({ name, words, about })),
    ...own.map(([name, { description, prompt }]) => ({ name, words: "[WORDS]", about: description ?? prompt })),
  ];
}

/**
 * What a text stands for: a command, which is run, or a message, which is returned. One of the agent's own commands is a
 * message too: the session knows what it stands for, and keeps what was written.
 */
export async function resolveInput(room: Room, text: string): Promise<string | undefined> {
  const read = readCommand(text);
  if (read === undefined) return text;
  const command = COMMANDS.find(({ name }) => name === read.name);
  if (command !== undefined) {
    room.chat.page.command(text);
    await command.run(room, read.words);
    return undefined;
  }
  // Whose commands they are is known only with the session, where the server has the agent.
  const agent = room.chat.agent ?? (await room.chat.require()).record.agent;
  if (Object.hasOwn(agent.commands ?? {}, read.name)) return text;
  room.chat.page.command(text);
  room.chat.page.note(
    unknownCommand(
      read.name,
      listCommands(room.chat).map(({ name }) => name),
    ),
  );
  return undefined;
}

function helpLines(chat: Chat): string[] {
  const { width } = chat.page;
  const rows: (readonly [string, string])[] = [
    ...listCommands(chat).map(({ name, words, about }) => [`/${name} ${words}`.trim(), about] as const),
    ["", ""],
    ...KEYS,
  ];
  // Side by side where there is room, else one under the other.
  const column = Math.min(24, Math.max(...rows.map(([name]) => name.length)) + 2);
  if (width < 60) return rows.flatMap(([name, about]) => [name, ...indented(about, width, 2)]);
  return rows.flatMap(([name, about]) => {
    const lines = indented(about, width, column);
    if (name.length + 2 > column) return [name, ...lines];
    return [`${name}${(lines[0] ?? "").slice(name.length)}`, ...lines.slice(1)];
  });
}

function indented(text: string, width: number, indent: number): string[] {
  if (text === "") return [];
  return wrapSpans([{ text }], width - indent).map((line) => `${" ".repeat(indent)}${line}`);
}

/** The commands that what is written could become. */
export function hintsFor(chat: Chat, text: string, width: number): string[] {
  if (!/^\/[\w-]*$/.test(text)) return [];
  return listCommands(chat)
    .filter(({ name }) => name.startsWith(text.slice(1)))
    .map(({ name, about }) => {
      const shown = oneLine(`/${name}`, width - 3).padEnd(10);
      return `  ${shown} ${colour.dim(oneLine(about, Math.max(1, width - shown.length - 4)))}`;
    });
}

/** What Tab makes of the input; undefined when there is nothing to complete. */
export function completed(chat: Chat, text: string): string | undefined {
  if (!/^\/[\w-]*$/.test(text)) return undefined;
  const names = listCommands(chat).flatMap(({ name }) => (name.startsWith(text.slice(1)) ? [name] : []));
  const [first, ...others] = names;
  if (first === undefined) return undefined;
  if (others.length === 0) return `/${first} `;
  let common = first;
  while (!others.every((name) => name.startsWith(common))) common = common.slice(0, -1);
  return `/${common}`;
}
