import type { LoggedEvent, Preview } from "../../../../src/client/index.ts";
import { noticeOf, type Notice } from "./notice.ts";

/** Builds a transcript from the log alone. Keys stay stable while more of the log is loaded. */

type EventOf<T extends LoggedEvent["type"]> = Extract<LoggedEvent, { type: T }>;
type Usage = EventOf<"session.usage">["usage"];
export type ToolUse = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;
export type ToolResult = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;

export interface Call {
  readonly use: ToolUse;
  result?: ToolResult;
  decision?: EventOf<"capstan.permission_decided">;
  /** The last approval request for it. */
  asked?: EventOf<"capstan.approval_requested">;
  /** Who answered. */
  answer?: EventOf<"user.tool_confirmation">;
  progress?: EventOf<"capstan.tool_progress">;
  readonly hooks: EventOf<"capstan.hook_ran">[];
  /** The subagent that works for it. */
  thread?: { readonly id: string; readonly agent: string };
}

interface Common {
  readonly key: string;
  /** Its seq in the log; absent for previews. */
  readonly seq?: number;
  readonly at?: string;
  /** The conversation was rewound to before it. */
  takenBack?: boolean;
  /** Only the beginning of its text is here. */
  readonly isClipped?: boolean;
}

export type Item = Common &
  (
    | { readonly kind: "user"; readonly event: EventOf<"user.message">; isQueued: boolean }
    | { readonly kind: "agent"; readonly text: string; readonly isStreaming: boolean; readonly messageId?: string }
    | { readonly kind: "thinking"; readonly text: string; readonly isStreaming: boolean; readonly messageId?: string }
    | { readonly kind: "call"; readonly call: Call; readonly messageId?: string }
    | { readonly kind: "notice"; readonly notice: Notice }
    | {
        readonly kind: "end";
        readonly event: EventOf<"session.status_idle">;
        /** The session's usage at this end and at the previous one: the log has totals. */
        readonly usage?: Usage;
        readonly before?: Usage;
      }
  );

/** Previews, by the id of the future event. */
export interface Saying {
  readonly type: "agent.message" | "agent.thinking";
  readonly text: string;
}
export type Sayings = ReadonlyMap<string, Saying>;

export function withPreview(sayings: Sayings, preview: Preview): Sayings {
  const next = new Map(sayings);
  if (preview.type === "event_start") next.set(preview.event.id, { type: preview.event.type, text: "" });
  else if (preview.type === "capstan.event_withdrawn") next.delete(preview.event_id);
  else {
    const before = next.get(preview.event_id);
    if (before !== undefined) next.set(preview.event_id, { ...before, text: before.text + preview.delta.content.text });
  }
  return next;
}

const NOTHING_USED: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0 },
  list_cost: { amount: "0", currency: "USD" },
  usd: 0,
  engine: {},
};

/** `thread`: a subagent's id; null for the main thread. */
export function transcriptOf(events: readonly LoggedEvent[], thread: string | null = null): Item[] {
  const fold = new Fold(thread);
  if (events[0]?.seq === 1) fold.begin();
  for (const event of events) fold.add(event);
  return fold.items;
}

/** Separate from the log, because previews change much more often than events. */
export function previewItems(sayings: Sayings, thread: string | null): Item[] {
  // Previews carry no thread; subagents have none.
  if (thread !== null) return [];
  return [...sayings].map(([key, { type, text }]) => ({
    kind: type === "agent.message" ? "agent" : "thinking",
    key,
    text,
    isStreaming: true,
  }));
}

class Fold {
  items: Item[] = [];
  readonly #thread: string | null;
  readonly #calls = new Map<string, Call>();
  readonly #queued = new Map<string, Extract<Item, { kind: "user" }>>();
  /** When items were rewound and restored, by key; most never are. */
  readonly #turns = new Map<string, readonly { readonly at: number; readonly isIn: boolean }[]>();
  #usage: Usage | undefined;
  #before: Usage | undefined;

  constructor(thread: string | null) {
    this.#thread = thread;
  }

  /** The whole log is loaded, so usage starts at zero. */
  begin(): void {
    this.#before = NOTHING_USED;
  }

  add(event: LoggedEvent): void {
    // The event that names the subagent of a call is on the caller's thread.
    if (event.type === "session.thread_created") return this.#attach(event);
    const isOwn = ("session_thread_id" in event ? (event.session_thread_id ?? null) : null) === this.#thread;
    if (!isOwn) return;
    switch (event.type) {
      case "user.message": {
        const item = { kind: "user" as const, ...positionOf(event), event, isQueued: true };
        this.#queued.set(event.id, item);
        return void this.items.push(item);
      }
      case "capstan.input_delivered":
        return this.#deliver(event.event_ids);
      case "agent.message": {
        const text = event.content.map((block) => (block.type === "text" ? block.text : "[redacted]")).join("");
        return void this.items.push({ kind: "agent", ...positionOf(event), text, isStreaming: false, ...of(event) });
      }
      case "agent.thinking":
        return void this.items.push({
          kind: "thinking",
          ...positionOf(event),
          text: event.thinking,
          isStreaming: false,
          ...of(event),
        });
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use": {
        const call: Call = { use: event, hooks: [] };
        this.#calls.set(event.call_id, call);
        return void this.items.push({ kind: "call", ...positionOf(event), call, ...of(event) });
      }
      case "agent.tool_result":
      case "agent.mcp_tool_result":
        return this.#change(event.call_id, (call) => (call.result = event));
      case "user.custom_tool_result":
        return this.#change(event.call_id, (call) => (call.result = event));
      case "capstan.permission_decided":
        return this.#change(event.call_id, (call) => (call.decision = event));
      case "capstan.approval_requested":
        return this.#change(event.call_id, (call) => (call.asked = event));
      case "capstan.tool_progress":
        return this.#change(event.call_id, (call) => (call.progress = event));
      case "capstan.hook_ran":
        return this.#change(event.call_id, (call) => call.hooks.push(event));
      case "user.tool_confirmation": {
        const call = [...this.#calls.values()].findLast(({ use }) => use.id === event.tool_use_id);
        if (call !== undefined) call.answer = event;
        return;
      }
      case "capstan.message_withdrawn":
        this.items = this.items.filter((item) => !("messageId" in item) || item.messageId !== event.message_id);
        return;
      case "session.usage":
        this.#usage = event.usage;
        return;
      case "session.status_idle": {
        // A turn that waits for a person shows it in the call's card.
        if (event.stop_reason.type === "requires_action") return;
        this.items.push({
          kind: "end",
          ...positionOf(event),
          event,
          ...(this.#usage !== undefined && { usage: this.#usage }),
          ...(this.#before !== undefined && { before: this.#before }),
        });
        this.#before = this.#usage;
        return;
      }
      case "capstan.rewound":
        if (event.to_seq !== undefined) this.#rewind(event.to_seq, event.seq);
        break;
      default:
    }
    const notice = noticeOf(event);
    if (notice !== undefined) this.items.push({ kind: "notice", ...positionOf(event), notice });
  }

  #attach(event: EventOf<"session.thread_created">): void {
    this.#change(event.call_id, (call) => {
      call.thread = { id: event.session_thread_id, agent: event.agent_name };
    });
  }

  #change(callId: string | undefined, change: (call: Call) => void): void {
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (call !== undefined) change(call);
  }

  /** A queued message moves to where it joined the conversation: after what was said while it waited. */
  #deliver(ids: readonly string[]): void {
    for (const id of ids) {
      const item = this.#queued.get(id);
      if (item === undefined) continue;
      this.#queued.delete(id);
      item.isQueued = false;
      // Search from the end: a long log has many of them.
      const at = this.items.lastIndexOf(item);
      if (at !== -1) this.items.splice(at, 1);
      this.items.push(item);
    }
  }

  /** Rewinds the conversation to right after `to`: later items are out, items rewound since then are in again. */
  #rewind(to: number, at: number): void {
    for (const item of this.items) {
      const { seq = 0 } = item;
      const turns = this.#turns.get(item.key) ?? [];
      const wasIn = seq <= to && (turns.findLast((turn) => turn.at <= to)?.isIn ?? true);
      if (wasIn === (item.takenBack !== true)) continue;
      item.takenBack = !wasIn;
      this.#turns.set(item.key, [...turns, { at, isIn: wasIn }]);
    }
  }
}

function positionOf(event: LoggedEvent): { key: string; seq: number; at?: string; isClipped?: boolean } {
  return {
    key: event.id,
    seq: event.seq,
    ...(event.processed_at != null && { at: event.processed_at }),
    ...("clipped" in event && event.clipped === true && { isClipped: true }),
  };
}

function of({ message_id }: { readonly message_id?: string | undefined }): { messageId?: string } {
  return message_id === undefined ? {} : { messageId: message_id };
}
