import { useState } from "react";
import type { Item } from "./transcript.ts";

/** In characters: as much as somebody wants to hear without asking. */
const HEARD = 300;

/** Tells whoever does not see the page what was said and what went wrong, once, when it has happened. */
export function Announcer({ items, head }: { readonly items: readonly Item[]; readonly head: number }) {
  // What was there when the page opened is no news.
  const [start] = useState(head);
  const last = items.findLast(isWorthHearing);
  const isNews = last?.seq !== undefined && last.seq > start;
  return (
    <p role="status" aria-label="News" className="sr-only">
      {isNews && last.kind === "agent" && last.text.slice(0, HEARD)}
      {isNews && last.kind === "notice" && last.notice.title}
    </p>
  );
}

function isWorthHearing(item: Item): boolean {
  return (item.kind === "agent" && !item.isStreaming) || (item.kind === "notice" && item.notice.tone === "bad");
}
