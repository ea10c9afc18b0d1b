import type { EventDraft } from "../core/events.ts";
import type { SessionDeps } from "./session-deps.ts";

/** A compaction names what it kept; where in the log that begins is known only to the log's owner. */
export async function locateKept(draft: EventDraft, { log, store, record }: SessionDeps): Promise<EventDraft> {
  if (draft.type !== "agent.thread_context_compacted") return draft;
  const { event_ids: users, message_ids: messages } = draft.kept;
  const events = await store.events(record.id, { after: Math.max(0, log.state.historyFrom - 1) });
  const first = events.find(
    ({ event }) => users.includes(event.id) || ("message_id" in event && messages.includes(event.message_id ?? "")),
  );
  return { ...draft, kept: { ...draft.kept, from_seq: first?.seq ?? log.head + 1 } };
}
