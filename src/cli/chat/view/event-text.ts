import type { EventOf } from "../../../core/events/events.ts";
import { REWIND_NOTE } from "../../../core/text/text.ts";

/** What a person wrote, a command as a command, with a word for each thing that was attached and that they do not speak of. */
export function messageText({ content, command }: EventOf<"user.message">): string {
  if (command !== undefined) return command;
  const texts = content.flatMap((block) => (block.type === "text" && block.text !== REWIND_NOTE ? [block.text] : []));
  const text = texts.join("\n");
  const others = content.filter(({ type }) => type !== "text" && !text.includes(`[${type} `));
  return [...others.map(({ type }) => `[${type}]`), text].join(" ").trim();
}

/** What went wrong, with what is done about it. */
export function errorText({ error }: EventOf<"session.error">): string {
  const retries = error.retry_status.type === "retrying" ? " It is tried again." : "";
  const next = error.next_step === undefined || error.message.includes(error.next_step) ? "" : ` ${error.next_step}`;
  return `${error.message}${next}${retries}`;
}
