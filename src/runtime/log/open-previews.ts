import type { Preview } from "../../core/events/events.ts";
import type { FeedItem } from "./feed.ts";

/** In characters of one event, more than one model answer has. A longer preview is not repeated; its event is. */
const MOST = 2_000_000;

type Started = Extract<Preview, { type: "event_start" }>["event"];

/** Whether no preview that is open now will ever be finished. */
function endsPreviews({ type }: FeedItem): boolean {
  return (
    type === "session.status_idle" ||
    type === "session.status_rescheduled" ||
    type === "session.status_terminated" ||
    type === "capstan.process_lost"
  );
}

/** The text that a session is writing right now, for readers that arrive in the middle of it. */
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
