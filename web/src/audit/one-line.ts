import type { EventOf } from "./groups.ts";

/** Shortens long texts and tool inputs to one line. */

const MAX = 300;

export function oneLine(text: string, max = MAX): string {
  // Only the beginning is used: the rest would not be shown.
  const flat = text
    .slice(0, max * 2)
    .replace(/\s+/g, " ")
    .trim();
  return flat.length > max || text.length > max * 2 ? `${flat.slice(0, max - 1)}…` : flat;
}

type Block = EventOf<"user.message">["content"][number] | NonNullable<EventOf<"agent.tool_result">["content"]>[number];

/** The text of a message or result; other blocks are named. */
export function saidIn(content: readonly Block[] | undefined): string {
  return oneLine((content ?? []).map(textOf).join(" "));
}

function textOf(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text.slice(0, MAX * 2);
    case "image":
      return "[image]";
    case "document":
      return `[document${typeof block.title === "string" ? `: ${block.title}` : ""}]`;
    case "search_result":
      return `[search result: ${block.title}]`;
    case "redacted":
      return "[erased]";
  }
}

/** Input fields that describe a call, the most telling first. */
const TELLING = ["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt"];

/** Describes a call: its command, its file, or the whole input of an unknown tool. */
export function aboutCall(input: Readonly<Record<string, unknown>>): string {
  const key = TELLING.find((name) => typeof input[name] === "string");
  if (key !== undefined) return oneLine(input[key] as string);
  return Object.keys(input).length === 0 ? "" : oneLine(JSON.stringify(input));
}
