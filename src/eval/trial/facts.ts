import type { EventOf, LoggedEvent } from "../../core/events/events.ts";
import { textOf } from "../../core/text/text.ts";
import type { TrialCallFacts, TrialFacts, TrialTurnFacts } from "./trial-facts.ts";

type Calls = Extract<LoggedEvent, { type: "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" }>;

const MAIN = "main";

/** The names of a session's threads: `main`, and each subagent's. */
export function threadNames(events: readonly LoggedEvent[]): (threadId: string | null | undefined) => string {
  const names = new Map(
    events.flatMap((event) =>
      event.type === "session.thread_created" ? [[event.session_thread_id, event.agent_name] as const] : [],
    ),
  );
  return (threadId) => (threadId == null ? MAIN : (names.get(threadId) ?? threadId));
}

/** All tool calls of a session in order, with their outcomes. */
export function callsIn(events: readonly LoggedEvent[]): readonly TrialCallFacts[] {
  const nameOf = threadNames(events);
  const results = new Map(
    events.flatMap((event) =>
      event.type === "agent.tool_result" || event.type === "agent.mcp_tool_result"
        ? [[event.call_id, event] as const]
        : [],
    ),
  );
  const given = new Map(
    events.flatMap((event) =>
      event.type === "user.custom_tool_result" ? [[event.custom_tool_use_id, event] as const] : [],
    ),
  );
  return events.filter(isCall).map((event) => {
    const result = results.get(event.call_id);
    const answer = given.get(event.id);
    return {
      id: event.id,
      tool: event.type === "agent.mcp_tool_use" ? event.engine_name : event.name,
      input: event.input,
      by: nameOf(event.session_thread_id),
      outcome: result?.outcome ?? (answer && (answer.outcome ?? "completed")),
      result: textOf(result?.content ?? answer?.content ?? []),
    };
  });
}

function isCall(event: LoggedEvent): event is Calls & LoggedEvent {
  return (
    event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use" || event.type === "agent.custom_tool_use"
  );
}

/** The results of each turn, by the messages that began them. */
export function turnsIn(events: readonly LoggedEvent[], inputs: readonly string[]): readonly TrialTurnFacts[] {
  const turns: TrialTurnFacts[] = [];
  let texts: string[] = [];
  for (const event of events) {
    if (event.type === "agent.message" && event.session_thread_id == null) texts.push(textOf(event.content));
    if (event.type !== "session.status_idle" || event.stop_reason.type === "requires_action") continue;
    turns.push({
      input: inputs[turns.length] ?? "",
      text: texts.join("\n"),
      output: event.output,
      stopReason: event.stop_reason.type,
    });
    texts = [];
  }
  return turns;
}

/** A session's spending on models. */
export function spendIn(events: readonly LoggedEvent[]): Pick<TrialFacts, "usd" | "tokens" | "requests"> {
  const ends = events.filter(
    (event): event is EventOf<"span.model_request_end"> & LoggedEvent => event.type === "span.model_request_end",
  );
  const sum = (count: (event: EventOf<"span.model_request_end">) => number): number =>
    ends.reduce((total, event) => total + count(event), 0);
  return {
    usd: ends.some(({ usd }) => usd === null) ? null : sum(({ usd }) => usd ?? 0),
    tokens: {
      input: sum(({ model_usage: usage }) => usage.input_tokens),
      output: sum(({ model_usage: usage }) => usage.output_tokens),
      cacheRead: sum(({ model_usage: usage }) => usage.cache_read_input_tokens),
      cacheCreation: sum(({ model_usage: usage }) => usage.cache_creation_input_tokens),
    },
    requests: ends.length,
  };
}
