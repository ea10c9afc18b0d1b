import type { EventOf } from "../../core/events.ts";

/** What a person wrote, with a word for each thing that was attached and that they do not speak of. */
export function messageText({ content }: EventOf<"user.message">): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const others = content.filter(({ type }) => type !== "text" && !text.includes(`[${type} `));
  return [...others.map(({ type }) => `[${type}]`), text].join(" ").trim();
}

/** What went wrong, with what is done about it. */
export function errorText({ error }: EventOf<"session.error">): string {
  const retries = error.retry_status.type === "retrying" ? " It is tried again." : "";
  const next = error.next_step === undefined || error.message.includes(error.next_step) ? "" : ` ${error.next_step}`;
  return `${error.message}${next}${retries}`;
}
