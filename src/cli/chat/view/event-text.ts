import type { EventOf } from "../../../core/events/events.ts";
import { REWIND_NOTE } from "../../../core/text/text.ts";

/** A user's message: commands as typed, with a placeholder for each attachment that the text does not mention. */
export function messageText({ content, command }: EventOf<"user.message">): string {
  if (command !== undefined) return command;
  const texts = content.flatMap((block) => (block.type === "text" && block.text !== REWIND_NOTE ? [block.text] : []));
  const text = texts.join("\n");
  const others = content.filter(({ type }) => type !== "text" && !text.includes(`[${type} `));
  return [...others.map(({ type }) => `[${type}]`), text].join(" ").trim();
}

/** An error, and what happens next. */
export function errorText({ error }: EventOf<"session.error">): string {
  const retries = error.retry_status.type === "retrying" ? " Retrying." : "";
  const next = error.next_step === undefined || error.message.includes(error.next_step) ? "" : ` ${error.next_step}`;
  return `${error.message}${next}${retries}`;
}
