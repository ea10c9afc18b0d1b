import { conversationOf } from "../../core/session/conversation.ts";
import type { EventDraft, EventType, SessionEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";
import { settleOpenWork } from "../calls/settle-work.ts";
import type { SessionLog } from "../log/session-log.ts";

/**
 * The events that a fork copies: the conversation. Spending, processes, decisions and interruptions stay with the
 * parent.
 */
const CONVERSATION: ReadonlySet<EventType> = new Set<EventType>([
  "user.message",
  "capstan.input_delivered",
  "agent.message",
  "agent.thinking",
  "agent.tool_use",
  "agent.mcp_tool_use",
  "agent.custom_tool_use",
  "agent.tool_result",
  "agent.mcp_tool_result",
  "user.custom_tool_result",
  "agent.thread_context_compacted",
  "capstan.message_withdrawn",
]);
/** Settings that the fork inherits, even if the conversation was rewound: the last event of each type. */
const SETTINGS = ["capstan.model_changed", "capstan.mode_changed", "capstan.engine_changed"] as const;

export async function copyHistory(
  store: Store,
  { from, upTo, to, log }: { from: string; upTo: number; to: string; log: SessionLog },
): Promise<void> {
  const stored = await store.events(from, { upTo });
  const events = conversationOf(stored).map(({ event }) => event);
  const delivered = new Set(
    events.flatMap((event) => (event.type === "capstan.input_delivered" ? event.event_ids : [])),
  );
  // A message that the parent has not started on stays with the parent.
  const taken = events.filter(
    (event) => CONVERSATION.has(event.type) && (event.type !== "user.message" || delivered.has(event.id)),
  );
  const settings = SETTINGS.flatMap((type) => stored.findLast(({ event }) => event.type === type)?.event ?? []);
  const drafts = [...taken.map((event) => renumberEvent(event, taken)), ...settings].map(asDraft);
  // Save outputs before the events that refer to them.
  const outputs = taken.flatMap((event) => ("whole_output" in event ? (event.whole_output?.hash ?? []) : []));
  await store.toolOutputs.copy(from, to, outputs);
  await log.append([{ type: "capstan.session_forked", from_session_id: from, from_seq: upTo }, ...drafts]);
  await log.append(settleOpenWork);
  for (const path of ["", ...(await store.transcripts.paths(from))])
    await store.transcripts.append(to, path, await store.transcripts.load(from, path));
}

/**
 * A compaction says where the part of the log that it kept begins. Translates that into the fork's sequence numbers.
 */
function renumberEvent(event: SessionEvent, taken: readonly SessionEvent[]): SessionEvent {
  if (event.type !== "agent.thread_context_compacted") return event;
  const { event_ids: users, message_ids: messages } = event.kept;
  const first = taken.findIndex(
    (other) => users.includes(other.id) || ("message_id" in other && messages.includes(other.message_id ?? "")),
  );
  const place = first < 0 ? taken.indexOf(event) : first;
  return { ...event, kept: { ...event.kept, from_seq: place + 2 } };
}

/** Keeps the id, so that messages and calls still refer to each other. */
function asDraft({ processed_at: _time, ...draft }: SessionEvent): EventDraft {
  return draft;
}
