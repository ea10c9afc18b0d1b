import { REWIND_NOTE } from "../../core/text/text.ts";

/** The part of a Messages API request that the rehearsal model reads. Parsed leniently: it comes from outside. */
export interface MessagesRequest {
  readonly messages?: readonly Message[];
  readonly tools?: readonly RehearsalTool[];
}

export interface Message {
  readonly role: string;
  readonly content: string | readonly RehearsalBlock[];
}

export interface RehearsalBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly content?: string | readonly RehearsalBlock[];
  readonly is_error?: boolean;
}

export interface RehearsalTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema?: Readonly<Record<string, unknown>>;
}

/** The user's last request, and the tool calls made for it since, in order. */
export interface Conversation {
  readonly request: string;
  readonly calls: readonly FinishedCall[];
}

export interface FinishedCall {
  readonly name: string;
  readonly result: string;
  readonly failed: boolean;
}

/** What the CLI adds around the user's text. */
const ADDED = new RegExp(
  `<(${[
    "system-reminder",
    "task-notification",
    "total_tokens",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
  ].join("|")})>[\\s\\S]*?</\\1>`,
  "g",
);
/** What the CLI says as the user to continue a turn: the actual request is the one before it. */
const NUDGE =
  /^(\[structured-output-enforce\]|\[Request interrupted|\[Tool call interrupted|Continue from where you left off|Your response above was cut off|Output token limit hit)/;

export function readConversation(messages: readonly Message[]): Conversation {
  const asked = messages.findLastIndex((message) => requestIn(message) !== undefined);
  const later = messages.slice(asked + 1);
  const results = later.flatMap(blocksOf).filter((block) => block.type === "tool_result");
  const calls = later
    .filter((message) => message.role === "assistant")
    .flatMap(blocksOf)
    .filter((block) => block.type === "tool_use")
    .flatMap((call) => {
      const result = results.find((block) => block.tool_use_id === call.id);
      if (result === undefined) return [];
      return [{ name: call.name ?? "", result: textOf(result.content), failed: result.is_error === true }];
    });
  const message = messages[asked];
  return { request: (message && requestIn(message)) ?? "", calls };
}

/** The last text block that is the user's own: added context comes before it. */
function requestIn(message: Message): string | undefined {
  if (message.role !== "user") return undefined;
  return blocksOf(message)
    .filter((block) => block.type === "text")
    .map((block) => withoutAdditions(block.text ?? ""))
    .findLast((text) => text !== "" && !NUDGE.test(text));
}

function blocksOf(message: Message): readonly RehearsalBlock[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

/** A kind of subagent that can be called, with its description. */
export interface SubagentKind {
  readonly name: string;
  readonly about: string;
}

/** The CLI's built-in ones. */
const BUILT_IN = ["claude", "Explore", "fork", "general-purpose", "output-style-setup", "Plan", "statusline-setup"];

/** The agent's own subagents. Engines list all kinds in a message, or in the tool's description. */
export function ownSubagents({ messages = [], tools = [] }: MessagesRequest): readonly SubagentKind[] {
  const texts = [
    ...messages
      .filter(({ role }) => role !== "assistant")
      .flatMap(blocksOf)
      .map(({ text }) => text ?? ""),
    ...tools.map(({ description }) => description ?? ""),
  ];
  const list = texts.map((text) => LIST.exec(text)?.[1]).find((found) => found !== undefined) ?? "";
  return [...list.matchAll(/^- ([\w-]+): (.*)$/gm)]
    .map(([, name = "", about = ""]) => ({ name, about }))
    .filter(({ name }) => !BUILT_IN.includes(name));
}

/** Until a blank line, or the end. */
const LIST = /(?:^Available agent types[^\n]*|The subagents are):\n((?:[^\n]+\n?)+)/m;

function textOf(content: string | readonly RehearsalBlock[] | undefined): string {
  if (typeof content === "string") return withoutAdditions(content);
  return withoutAdditions((content ?? []).map((block) => block.text ?? "").join("\n"));
}

function withoutAdditions(text: string): string {
  return text.replaceAll(ADDED, "").replaceAll(REWIND_NOTE, "").trim();
}
