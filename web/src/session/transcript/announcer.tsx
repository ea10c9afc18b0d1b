import { useState } from "react";
import type { Item } from "./transcript.ts";

/** In characters: how much a screen reader reads aloud unasked. */
const HEARD = 300;

/** Announces messages and errors to screen readers, once, when they are complete. */
export function Announcer({ items, head }: { readonly items: readonly Item[]; readonly head: number }) {
  // Items that existed when the page opened are not announced.
  const [start] = useState(head);
  const last = items.findLast(isWorthHearing);
  const isNews = last?.seq !== undefined && last.seq > start;
  return (
    <p role="status" aria-label="Updates" className="sr-only">
      {isNews && last.kind === "agent" && last.text.slice(0, HEARD)}
      {isNews && last.kind === "notice" && last.notice.title}
    </p>
  );
}

function isWorthHearing(item: Item): boolean {
  return (item.kind === "agent" && !item.isStreaming) || (item.kind === "notice" && item.notice.tone === "bad");
}
