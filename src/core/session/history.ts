import type { MessageContent, ToolContent } from "../events/content.ts";
import type { EventOf, SessionEvent } from "../events/events.ts";

/**
 * What the model must see of the primary thread, read from the log: the truth that an engine's own transcript is
 * compared with, and rebuilt from if the two differ.
 */
export type HistoryItem =
  /** The result of a compaction: a summary, and the last messages verbatim. */
  | { readonly kind: "summary"; readonly text: string; readonly kept: readonly HistoryItem[] }
  | { readonly kind: "user"; readonly eventId: string; readonly content: MessageContent }
  | {
      readonly kind: "model";
      readonly messageId: string;
      readonly blocks: readonly ModelBlock[];
      readonly results: readonly ToolReturn[];
    };

export type ModelBlock =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly kind: "call";
      readonly callId: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

export interface ToolReturn {
  readonly callId: string;
  readonly content: ToolContent;
  readonly isError: boolean;
}

interface OpenModelItem {
  readonly kind: "model";
  readonly messageId: string;
  readonly blocks: ModelBlock[];
  readonly results: ToolReturn[];
}

/**
 * What the model must see of one thread: the primary one, or a subagent's. `events` start at the last compaction of the
 * primary thread, or at the beginning; for a subagent, at the beginning.
 */
export function historyOf(events: readonly SessionEvent[], line: string | null = null): readonly HistoryItem[] {
  const items: (HistoryItem | OpenModelItem)[] = [];
  const arrived = new Map<string, MessageContent>();
  const models = new Map<string, OpenModelItem>();
  const callOwner = new Map<string, OpenModelItem>();
  /** Custom calls by the events that their results refer to. */
  const customCalls = new Map<string, string>();
  const calls = new Map<string, EventOf<"agent.tool_use">>();

  // The blocks of one model message may be interleaved with the results of its first calls; they belong together.
  const modelItem = (messageId: string): OpenModelItem => {
    const known = models.get(messageId);
    if (known !== undefined) return known;
    const item: OpenModelItem = { kind: "model", messageId, blocks: [], results: [] };
    models.set(messageId, item);
    items.push(item);
    return item;
  };

  for (const event of events) {
    if (line !== null && isTask(event, line)) {
      const call = calls.get(event.call_id ?? "");
      if (call !== undefined) items.push({ kind: "user", eventId: call.id, content: taskOf(call) });
    }
    if (event.type === "agent.tool_use" && line !== null) calls.set(event.call_id, event);
    const thread = "session_thread_id" in event ? (event.session_thread_id ?? null) : null;
    if (thread !== line) continue;
    switch (event.type) {
      case "agent.thread_context_compacted": {
        const { event_ids: users, message_ids: messages } = event.kept;
        const kept = items.filter(
          (item) =>
            (item.kind === "user" && users.includes(item.eventId)) ||
            (item.kind === "model" && messages.includes(item.messageId)),
        );
        items.length = 0;
        items.push({ kind: "summary", text: event.summary, kept });
        models.clear();
        break;
      }
      case "user.message":
        arrived.set(event.id, event.content);
        break;
      case "capstan.input_delivered":
        for (const id of event.event_ids) items.push({ kind: "user", eventId: id, content: arrived.get(id) ?? [] });
        break;
      case "agent.message":
        for (const block of event.content)
          if (block.type === "text")
            modelItem(event.message_id ?? event.id).blocks.push({ kind: "text", text: block.text });
        break;
      case "agent.thinking":
        modelItem(event.message_id ?? event.id).blocks.push({
          kind: "thinking",
          thinking: event.thinking,
          signature: event.signature,
        });
        break;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use": {
        const item = modelItem(event.message_id ?? event.id);
        item.blocks.push({ kind: "call", callId: event.call_id, name: event.engine_name, input: event.input });
        callOwner.set(event.call_id, item);
        if (event.type === "agent.custom_tool_use") customCalls.set(event.id, event.call_id);
        break;
      }
      case "agent.tool_result":
      case "agent.mcp_tool_result":
      case "user.custom_tool_result": {
        const callId =
          event.type === "user.custom_tool_result" ? customCalls.get(event.custom_tool_use_id) : event.call_id;
        if (callId === undefined) break;
        const { content = [], is_error: isError } = event;
        callOwner.get(callId)?.results.push({ callId, content, isError: isError === true });
        break;
      }
      case "capstan.message_withdrawn": {
        const index = items.findIndex((item) => item.kind === "model" && item.messageId === event.message_id);
        if (index >= 0) items.splice(index, 1);
        models.delete(event.message_id);
        break;
      }
      default:
        break;
    }
  }
  return items;
}

type ThreadWork = EventOf<"session.thread_created" | "session.thread_status_running">;

/** Whether the event gives the subagent of this thread work. */
function isTask(event: SessionEvent, line: string): event is ThreadWork {
  return (
    (event.type === "session.thread_created" || event.type === "session.thread_status_running") &&
    event.session_thread_id === line
  );
}

/** The prompt in the call that started a subagent, or sent it a message. */
function taskOf({ input }: EventOf<"agent.tool_use">): MessageContent {
  const text = input["prompt"] ?? input["message"];
  return [{ type: "text", text: typeof text === "string" ? text : JSON.stringify(input) }];
}
