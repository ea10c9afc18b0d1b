import { createHash } from "node:crypto";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { eventIdOf, threadId } from "../../../core/ports/clock.ts";
import type { ToolContent } from "../../../core/events/content.ts";
import type { EngineFact } from "../../../core/ports/engine.ts";
import type { EventDraft } from "../../../core/events/events.ts";
import { claudeCodePromptChars } from "../../model-traits.ts";
import { toolUseDraft } from "../../tool-use.ts";
import { events, emptyTranslation, type Translation, type TranslatorState, withdrawals } from "./translation.ts";
import { turnEnd } from "./turn-end.ts";
import { onStreamEvent } from "./stream-preview.ts";

/**
 * Translates SDK messages to engine facts, as a pure function: `translate(state, message)` returns the facts and the
 * next state. It ignores unknown kinds of messages; newer CLIs send more than older ones.
 */
/** The CLI announces what happens to each message we sent; the SDK passes this on without a type. */
interface CommandLifecycle {
  readonly type: "command_lifecycle";
  readonly command_uuid: string;
  readonly state: "queued" | "started" | "completed" | "cancelled";
}

/** How many of the last SDK messages a compaction may refer to. */
const REMEMBERED = 100;

type Of<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;

export function translate(state: TranslatorState, message: SDKMessage | CommandLifecycle): Translation {
  switch (message.type) {
    case "command_lifecycle":
      return message.state === "started"
        ? { state, facts: [{ kind: "delivered", eventIds: [eventIdOf(message.command_uuid)] }] }
        : emptyTranslation(state);
    case "system":
      return onSystem(state, message);
    case "assistant":
      return onAssistant(state, message);
    case "user":
      return onUser(state, message);
    case "stream_event":
      return onStreamEvent(state, message);
    case "tool_progress":
      // A heartbeat only says that time passes, also while a call waits for a person.
      if (message.heartbeat === true) return emptyTranslation(state);
      return events(state, {
        type: "capstan.tool_progress",
        ...threadOf(state, message.parent_tool_use_id),
        call_id: message.tool_use_id,
        elapsed_seconds: message.elapsed_time_seconds,
      });
    case "result": {
      const { end, totals } = turnEnd(message, state);
      return {
        state: { ...state, totals, failure: {}, openBlocks: [] },
        facts: [...withdrawals(state.openBlocks), { kind: "turn_ended", end }],
      };
    }
    default:
      return emptyTranslation(state);
  }
}

function onSystem(state: TranslatorState, message: Of<"system">): Translation {
  switch (message.subtype) {
    case "init": {
      // A subagent's prompt is part of the agent's definition; the log records only the primary thread's.
      if (state.line !== undefined) return emptyTranslation(state);
      const engineChars = claudeCodePromptChars(message.model);
      const draft: EventDraft<"capstan.prompt_rendered"> = {
        type: "capstan.prompt_rendered",
        model: message.model,
        instructions_sha256: createHash("sha256").update(state.instructions).digest("hex"),
        instructions_chars: state.instructions.length,
        ...(state.isAppended === true && engineChars !== undefined && { engine_prompt_chars: engineChars }),
        // The CLI announces this tool by its old name.
        tools: (message.tools ?? []).map((tool) => (tool === "Task" ? "Agent" : tool)),
        cwd: message.cwd,
        engine: "claude",
        engine_version: message.claude_code_version,
      };
      const rendered = JSON.stringify(draft);
      return rendered === state.rendered ? emptyTranslation(state) : events({ ...state, rendered }, draft);
    }
    case "compact_boundary":
      return emptyTranslation({ ...state, compaction: onCompaction(state, message.compact_metadata) });
    case "api_retry":
      return events(state, {
        type: "session.error",
        ...threadOf(state, null),
        error: {
          type:
            message.error_status === 429
              ? "model_rate_limited_error"
              : message.error_status === 529
                ? "model_overloaded_error"
                : "model_request_failed_error",
          message: `Model request failed (${message.error_status ?? message.error}). Retrying (attempt ${message.attempt} of ${message.max_retries}).`,
          retry_status: { type: "retrying" },
          code: "model_failed",
          http_status: message.error_status,
          retry_after_ms: message.retry_delay_ms,
        },
      });
    case "task_started":
      return onTaskStarted(state, message);
    case "task_notification":
      return onTaskEnded(state, message);
    case "status":
      return message.compact_result === "failed"
        ? emptyTranslation({ ...state, failure: { ...state.failure, compaction: sentence(message.compact_error) } })
        : emptyTranslation(state);
    case "model_refusal_no_fallback":
      return emptyTranslation({ ...state, failure: { ...state.failure, refused: true } });
    default:
      return emptyTranslation(state);
  }
}

type CompactMetadata = Extract<SDKMessage, { subtype: "compact_boundary" }>["compact_metadata"];

function onCompaction(state: TranslatorState, metadata: CompactMetadata): NonNullable<TranslatorState["compaction"]> {
  const kept = metadata.preserved_messages?.uuids ?? [];
  const answers = kept.flatMap((uuid) => state.messageOf.get(uuid) ?? []);
  return {
    trigger: metadata.trigger,
    tokens_before: metadata.pre_tokens,
    tokens_after: metadata.post_tokens,
    // The owner of the log resolves where it begins; it ignores an unknown id.
    kept: {
      event_ids: kept.filter((uuid) => !state.messageOf.has(uuid)).map(eventIdOf),
      message_ids: [...new Set(answers)],
      from_seq: 0,
    },
  };
}

type TaskStarted = Extract<SDKMessage, { subtype: "task_started" }>;
type TaskNotification = Extract<SDKMessage, { subtype: "task_notification" }>;

function onTaskStarted(state: TranslatorState, message: TaskStarted): Translation {
  const callId = message.tool_use_id;
  if (callId === undefined || message.subagent_type === undefined) return emptyTranslation(state);
  const known = [...state.agentOfCall.values()].find((agent) => agent.id === message.task_id);
  const agent = known ?? { id: message.task_id, name: message.subagent_type };
  const next = { ...state, agentOfCall: new Map(state.agentOfCall).set(callId, agent) };
  const thread = { session_thread_id: threadId(state.sessionId, agent.id), agent_name: agent.name };
  if (known !== undefined) return events(next, { type: "session.thread_status_running", ...thread, call_id: callId });
  const parent = message.parent_task_id;
  return events(next, {
    type: "session.thread_created",
    ...thread,
    workflow_run_id: null,
    parent_thread_id: parent === undefined ? (state.line ?? null) : threadId(state.sessionId, parent),
    call_id: callId,
    task: message.description,
  });
}

function onTaskEnded(state: TranslatorState, message: TaskNotification): Translation {
  const agent = [...state.agentOfCall.values()].find(({ id }) => id === message.task_id);
  if (agent === undefined) return emptyTranslation(state);
  const thread = { session_thread_id: threadId(state.sessionId, agent.id), agent_name: agent.name };
  const reason = message.status === "failed" ? ("retries_exhausted" as const) : ("end_turn" as const);
  return events(state, {
    type: "session.thread_status_idle",
    ...thread,
    stop_reason: { type: reason },
    stop_details: null,
  });
}

function onAssistant(state: TranslatorState, message: Of<"assistant">): Translation {
  // The CLI turns an API failure into an answer; the result that follows reports it as an error instead.
  if (message.error !== undefined)
    return emptyTranslation({
      ...state,
      failure: { ...state.failure, kind: message.error, text: textIn(message.message.content) },
    });
  if (message.message.model === "<synthetic>") return emptyTranslation(state);
  const thread = threadOf(state, message.parent_tool_use_id);
  const { id: messageId, content } = message.message;
  // An answer that was cut off may be sent again as a whole, without being streamed again.
  const primary = message.parent_tool_use_id == null;
  const cutOff = primary ? state.openBlocks.filter((open) => open.messageId !== messageId) : [];
  let openBlocks = state.openBlocks.filter((open) => !cutOff.includes(open));
  const drafts = content.flatMap((block): EventDraft[] => {
    const base = { ...thread, message_id: messageId };
    if (block.type === "tool_use") return [toolUseDraft(base, block, state.customTools)];
    if (block.type !== "text" && block.type !== "thinking") return [];
    const type = block.type === "text" ? "agent.message" : "agent.thinking";
    const shown = primary ? openBlocks.find((open) => open.type === type) : undefined;
    openBlocks = openBlocks.filter((open) => open !== shown);
    const id = shown?.id ?? state.newId();
    return block.type === "text"
      ? [{ type: "agent.message", id, ...base, content: [{ type: "text", text: block.text }] }]
      : [{ type: "agent.thinking", id, ...base, thinking: block.thinking, signature: block.signature }];
  });
  const messageOf = new Map([...state.messageOf].slice(-REMEMBERED)).set(message.uuid, messageId);
  const said = events({ ...state, openBlocks, messageOf }, ...drafts);
  return { ...said, facts: [...withdrawals(cutOff), ...said.facts] };
}

function onUser(state: TranslatorState, message: Of<"user">): Translation {
  const { content } = message.message;
  if (state.compaction !== undefined && message.parent_tool_use_id == null) {
    const summary = typeof content === "string" ? content : textIn(content);
    return events(
      { ...state, compaction: undefined },
      { type: "agent.thread_context_compacted", ...threadOf(state, null), ...state.compaction, summary },
    );
  }
  if (typeof content === "string") return emptyTranslation(state);
  const facts = content.flatMap((block): EngineFact[] =>
    block.type === "tool_result"
      ? [
          {
            kind: "tool_result",
            callId: block.tool_use_id,
            content: toolContent(block.content),
            isError: block.is_error === true,
          },
        ]
      : [],
  );
  return { state, facts };
}

/** Text and images of a result. Other content is kept as JSON text, not dropped. */
function toolContent(content: unknown): ToolContent {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (content as { type: string }[]).map((block): ToolContent[number] => {
    switch (block.type) {
      case "text":
      case "image":
      case "document":
      case "search_result":
        return block as ToolContent[number];
      default:
        return { type: "text", text: JSON.stringify(block) };
    }
  });
}

function threadOf(state: TranslatorState, parentCall: string | null | undefined): { session_thread_id?: string } {
  if (parentCall == null) return state.line === undefined ? {} : { session_thread_id: state.line };
  // The CLI announces a subagent before its first message; an unknown one still gets its own thread.
  const agent = state.agentOfCall.get(parentCall);
  return { session_thread_id: threadId(state.sessionId, agent?.id ?? parentCall) };
}

function sentence(text = "no reason given"): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function textIn(content: readonly object[]): string {
  return content.map((block) => ("text" in block ? String(block.text) : "")).join("");
}
