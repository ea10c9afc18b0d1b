import type { Preview } from "../../core/events/events.ts";
import type { FeedItem } from "./feed.ts";

/** In characters, of one event: longer than a model answers at once. What says more is told again only by its event. */
const MOST = 2_000_000;

type Started = Extract<Preview, { type: "event_start" }>["event"];

/** Whether nothing that was being said before is ever finished. */
function endsPreviews({ type }: FeedItem): boolean {
  return (
    type === "session.status_idle" ||
    type === "session.status_rescheduled" ||
    type === "session.status_terminated" ||
    type === "capstan.process_lost"
  );
}

/** What a session is saying right now, so that somebody who comes in the middle of it can be told from its beginning. */
export class OpenPreviews {
  readonly #open = new Map<string, { readonly event: Started; text: string }>();

  see(item: FeedItem): void {
    if (endsPreviews(item)) return this.clear();
    switch (item.type) {
      case "event_start":
        this.#open.set(item.event.id, { event: item.event, text: "" });
        return;
      case "event_delta":
        this.#add(item.event_id, item.delta.content.text);
        return;
      case "capstan.event_withdrawn":
        this.#open.delete(item.event_id);
        return;
      default:
        this.#open.delete(item.id);
    }
  }

  clear(): void {
    this.#open.clear();
  }

  /** Oldest first: the start of each, and all of its text so far in one piece. */
  all(): Preview[] {
    return [...this.#open.values()].flatMap(({ event, text }): Preview[] => [
      { type: "event_start", event },
      ...(text === "" ? [] : [whole(event.id, text)]),
    ]);
  }

  #add(id: string, text: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.text += text;
    if (open.text.length > MOST) this.#open.delete(id);
  }
}

function whole(eventId: string, text: string): Preview {
  return {
    type: "event_delta",
    event_id: eventId,
    delta: { type: "content_delta", content: { type: "text", text } },
  };
}
