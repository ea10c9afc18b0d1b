import type { EngineFact } from "../../core/ports/engine.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { SessionBasics } from "../session-deps.ts";

type LogDeps = Pick<SessionBasics, "log">;
type PlainFact = Extract<EngineFact, { kind: "preview" | "event" | "delivered" }>;

/** Stores facts of the engine that need nothing more than to be stored. */
export async function recordPlainFact(fact: PlainFact, deps: LogDeps): Promise<void> {
  const { log } = deps;
  if (fact.kind === "preview") log.preview(fact.preview);
  else if (fact.kind === "event") await log.appendSoon([await locateKept(fact.draft, deps)]);
  else if (deliveryEvents(log.state, fact.eventIds).length > 0)
    await log.append((state) => deliveryEvents(state, fact.eventIds));
}

/** The event that says these messages were delivered; none for those that the log already has as delivered. */
export function deliveryEvents(state: SessionState, eventIds: readonly string[]): readonly EventDraft[] {
  const ids = eventIds.filter((id) => state.undelivered.some((message) => message.id === id));
  return ids.length === 0 ? [] : [{ type: "capstan.input_delivered", event_ids: ids }];
}

/** A compaction names the messages it kept; only the log knows the sequence number of the first one. */
async function locateKept(draft: EventDraft, { log }: LogDeps): Promise<EventDraft> {
  if (draft.type !== "agent.thread_context_compacted") return draft;
  const { event_ids: users, message_ids: messages } = draft.kept;
  const events = await log.events({ after: Math.max(0, log.state.historyFrom - 1) });
  const first = events.find(
    ({ event }) => users.includes(event.id) || ("message_id" in event && messages.includes(event.message_id ?? "")),
  );
  return { ...draft, kept: { ...draft.kept, from_seq: first?.seq ?? log.head + 1 } };
}
