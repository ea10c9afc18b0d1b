import { color, oneLine } from "../../terminal/text.ts";
import type { Chat } from "../chat.ts";
import { type ChatCommand, readCommand, type Room, unknownCommand } from "./command.ts";
import { FILE_COMMANDS } from "./command-files.ts";
import { MODEL_COMMANDS } from "./command-model.ts";
import { SESSION_COMMANDS } from "./command-session.ts";
import { wrapSpans } from "../view/spans.ts";

const COMMANDS: readonly ChatCommand[] = [
  { name: "help", about: "show commands and keys", run: ({ chat }) => chat.page.lines(helpLines(chat)) },
  ...MODEL_COMMANDS,
  ...FILE_COMMANDS,
  ...SESSION_COMMANDS,
  { name: "quit", about: "exit (prints the command to resume)", run: (room) => room.quit() },
];

const KEYS: readonly (readonly [keys: string, about: string])[] = [
  ["Enter", "send; queues the message while the agent is working"],
  ["Alt-Enter, \\ Enter", "insert a line break"],
  ["Esc", "interrupt the turn, also at a question"],
  ["Ctrl-C", "clear the input; press twice to quit"],
  ["Ctrl-O", "show or hide tool call details"],
  ["Up, Down", "recall earlier inputs"],
  ["Tab", "complete a command"],
];

/** A command in the help. */
export interface Listed {
  readonly name: string;
  readonly words: string;
  readonly about: string;
}

/** The chat's commands, then the agent's own. */
function listCommands(chat: Chat): readonly Listed[] {
  const own = Object.entries(chat.agent?.commands ?? {}).filter(([name]) => !COMMANDS.some((one) => one.name === name));
  return [
    ...COMMANDS.map(({ name, words = "", about }) => ({ name, words, about })),
    ...own.map(([name, { description, prompt }]) => ({ name, words: "[WORDS]", about: description ?? prompt })),
  ];
}

/**
 * Runs a chat command, or returns the text of a message. The agent's own commands are messages too: the session expands
 * them and keeps what was typed.
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
  // On a server, the agent's commands are known only with the session.
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
  // In two columns if there is room, otherwise stacked.
  const column = Math.min(24, Math.max(...rows.map(([name]) => name.length)) + 2);
  if (width < 60) return rows.flatMap(([name, about]) => [name, ...indent(about, width, 2)]);
  return rows.flatMap(([name, about]) => {
    const lines = indent(about, width, column);
    if (name.length + 2 > column) return [name, ...lines];
    return [`${name}${(lines[0] ?? "").slice(name.length)}`, ...lines.slice(1)];
  });
}

function indent(text: string, width: number, columns: number): string[] {
  if (text === "") return [];
  return wrapSpans([{ text }], width - columns).map((line) => `${" ".repeat(columns)}${line}`);
}

/** The commands that start with the typed text. */
export function hintsFor(chat: Chat, text: string, width: number): string[] {
  if (!/^\/[\w-]*$/.test(text)) return [];
  return listCommands(chat)
    .filter(({ name }) => name.startsWith(text.slice(1)))
    .map(({ name, about }) => {
      const shown = oneLine(`/${name}`, width - 3).padEnd(10);
      return `  ${shown} ${color.dim(oneLine(about, Math.max(1, width - shown.length - 4)))}`;
    });
}

/** The input after Tab; undefined if there is nothing to complete. */
export function completeInput(chat: Chat, text: string): string | undefined {
  if (!/^\/[\w-]*$/.test(text)) return undefined;
  const names = listCommands(chat).flatMap(({ name }) => (name.startsWith(text.slice(1)) ? [name] : []));
  const [first, ...others] = names;
  if (first === undefined) return undefined;
  if (others.length === 0) return `/${first} `;
  let common = first;
  while (!others.every((name) => name.startsWith(common))) common = common.slice(0, -1);
  return `/${common}`;
}
