import type { ModelUsage, SessionEvent, StoredEvent } from "../../core/events/events.ts";
import { addUsage } from "../../core/session/state-spend.ts";
import type { Store } from "../../core/ports/store.ts";
import { textOf } from "../../core/text/text.ts";

/** What the events of a turn add up to. */
export class TurnTally {
  readonly #texts: string[] = [];
  usage: ModelUsage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  /** List price; null when a model without a known price was asked. */
  usd: number | null = 0;

  /** All the agent said on the primary line. */
  get text(): string {
    return this.#texts.join("\n");
  }

  add(event: SessionEvent): void {
    if (event.type === "agent.message" && event.session_thread_id == null) this.#texts.push(textOf(event.content));
    else if (event.type === "span.model_request_end") {
      this.usage = addUsage(this.usage, event.model_usage);
      this.usd = this.usd === null || event.usd === null ? null : this.usd + event.usd;
    }
  }
}

const PAGE = 200;

/** The tally of the turn that ends at `end`, from the log: it may have begun in another process. */
export async function tallyOf(
  store: Store,
  { sessionId, end }: { sessionId: string; end: number },
): Promise<TurnTally> {
  let events: readonly StoredEvent[] = [];
  for (let upTo = end - 1; upTo > 0; upTo -= PAGE) {
    const page = await store.events(sessionId, { after: Math.max(0, upTo - PAGE), upTo });
    const before = page.findLastIndex(({ event }) => isEnd(event));
    events = [...page.slice(before + 1), ...events];
    if (before >= 0) break;
  }
  // What a fork took over stands before its first turn.
  const start = events.findIndex(({ event }) => event.type === "session.status_running");
  const tally = new TurnTally();
  for (const { event } of start < 0 ? [] : events.slice(start)) tally.add(event);
  return tally;
}

/** A turn that waits for a person is not over. */
function isEnd(event: SessionEvent): boolean {
  return event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";
}
