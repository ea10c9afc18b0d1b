import type { RecordedAnswer } from "../core/suite/cassette.ts";
import { engineAgentIdOf } from "../core/ports/clock.ts";
import type { EventOf, SessionEvent } from "../core/events/events.ts";
import type { SaidThread } from "../core/suite/spoken-thread.ts";

type Block = { type: string; [field: string]: unknown };
type End = EventOf<"span.model_request_end">;

/** One model request, and the resulting message. */
interface Request {
  end?: End;
  messageId?: string;
  readonly blocks: Block[];
}

interface Line extends Omit<SaidThread, "answers"> {
  readonly requests: Request[];
}

/** All model output of a session, by thread. */
export function saidIn(events: readonly SessionEvent[]): readonly SaidThread[] {
  const lines = new Map<string | null, Line>([
    [null, { thread: "main", engineAgentId: undefined, task: undefined, requests: [] }],
  ]);
  const started = new Map<string, Request>();
  const byMessage = new Map<string, Request>();
  const tasks = new Map<string, string>();
  const withdrawn = new Set<string>();
  for (const event of events) {
    if (event.type === "session.thread_created")
      lines.set(event.session_thread_id, {
        thread: `agent-${lines.size}`,
        engineAgentId: engineAgentIdOf(event.session_thread_id),
        task: tasks.get(event.call_id),
        requests: [],
      });
    if (event.type === "capstan.message_withdrawn") withdrawn.add(event.message_id);
    if (event.type === "agent.tool_use" && typeof event.input["prompt"] === "string")
      tasks.set(event.call_id, event.input["prompt"]);
    const line = lines.get("session_thread_id" in event ? (event.session_thread_id ?? null) : null);
    if (event.type === "span.model_request_start" && line !== undefined) {
      const request: Request = { blocks: [] };
      started.set(event.id, request);
      line.requests.push(request);
    }
    if (event.type === "span.model_request_end") {
      const request = started.get(event.model_request_start_id);
      if (request !== undefined) request.end = event;
    }
    const said = blocksOf(event);
    if (said === undefined) continue;
    // A request's output is logged before the thread's next request; its end may come before or after that.
    const request = byMessage.get(said.messageId) ?? line?.requests.findLast((one) => one.messageId === undefined);
    if (request === undefined) continue;
    request.messageId = said.messageId;
    byMessage.set(said.messageId, request);
    request.blocks.push(...said.blocks);
  }
  return [...lines.values()].map(({ requests, ...line }) => ({
    ...line,
    answers: requests
      .filter(({ messageId }) => messageId === undefined || !withdrawn.has(messageId))
      .flatMap((request) => answerOf(request) ?? []),
  }));
}

function blocksOf(event: SessionEvent): { readonly messageId: string; readonly blocks: readonly Block[] } | undefined {
  switch (event.type) {
    case "agent.message":
      return { messageId: event.message_id ?? event.id, blocks: event.content };
    case "agent.thinking":
      return {
        messageId: event.message_id ?? event.id,
        blocks: [{ type: "thinking", thinking: event.thinking, signature: event.signature }],
      };
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return {
        messageId: event.message_id ?? event.id,
        blocks: [{ type: "tool_use", id: event.call_id, name: event.engine_name, input: event.input }],
      };
    default:
      return undefined;
  }
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** Undefined for an incomplete answer that was not used. */
function answerOf({ end, messageId, blocks }: Request): RecordedAnswer | undefined {
  if (end === undefined) return undefined;
  const { http_status: status, stop_reason: stopReason, model, model_usage: usage } = end;
  if (status !== null && status >= 400)
    return {
      kind: "error",
      status,
      headers: {},
      body: {
        type: "error",
        error: { type: ERROR_TYPES[status] ?? "api_error", message: `The API responded with ${status}.` },
      },
    };
  if (stopReason === null) return undefined;
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  return {
    kind: "message",
    message: {
      id: messageId ?? "msg_recorded",
      type: "message",
      role: "assistant",
      model,
      content: blocks,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens },
    },
  };
}
