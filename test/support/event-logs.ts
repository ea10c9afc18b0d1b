import * as fc from "fast-check";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { initialState, reduce, type SessionState } from "../../src/core/session/state.ts";
import { example } from "./event-examples.ts";

/** The state after `events`, which follow on `snapshot`. */
export function fold(events: readonly SessionEvent[], snapshot = { seq: 0, state: initialState }): SessionState {
  return events.reduce((state, event, index) => reduce(state, event, snapshot.seq + index + 1), snapshot.state);
}

/** Logs in which everything happens at a time when it can happen. */
export const validLogs: fc.Arbitrary<SessionEvent[]> = fc
  .array(fc.record({ what: fc.nat(1000), which: fc.nat(1000) }), { maxLength: 60 })
  .map((choices) => {
    const log: SessionEvent[] = [];
    for (const [index, { what, which }] of choices.entries()) {
      const id = `sevt_${index}`;
      const possible = nextEvents(fold(log), { id, which });
      const chosen = possible[what % possible.length];
      if (chosen !== undefined) log.push({ ...chosen, id });
    }
    return log;
  });

interface Choice {
  /** Of the event to come; also makes new names. */
  readonly id: string;
  /** Picks one of the things the event may be about. */
  readonly which: number;
}

function nextEvents(state: SessionState, { id, which }: Choice): SessionEvent[] {
  const pick = <T>(list: readonly T[]): T[] => list.slice(which % Math.max(1, list.length)).slice(0, 1);
  const calls = Object.entries(state.openCalls);
  const threads = pick(Object.keys(state.threads)).map((session_thread_id) => ({ session_thread_id }));
  const onThread = which % 2 === 0 ? {} : threads[0];
  const call_id = `toolu_${id}`;
  const message_id = `msg_${which % 5}`;
  const always = [example("user.message", { id }), example("capstan.mode_changed", { mode: `mode-${which}` })];
  if (state.status !== "running") return [...always, example("session.status_running")];
  return [
    ...always,
    example("session.status_idle"),
    example("session.status_rescheduled"),
    example("agent.message", { message_id, ...onThread }),
    example("agent.thinking", { message_id, ...onThread }),
    example("agent.tool_use", { message_id, call_id, ...onThread }),
    example("agent.mcp_tool_use", { message_id, call_id, ...onThread }),
    example("agent.custom_tool_use", { message_id, call_id }),
    example("agent.thread_context_compacted", { summary: id, ...onThread }),
    example("span.model_request_end", { usd: which / 7, ...onThread }),
    example("session.thread_created", { session_thread_id: `sthr_${id}`, call_id }),
    example("capstan.model_changed", { model: `model-${which}` }),
    example("capstan.message_withdrawn", { message_id }),
    ...pick(state.undelivered).map((waiting) => example("capstan.input_delivered", { event_ids: [waiting.id] })),
    ...pick(calls.filter(([, call]) => call.decision === "none")).map(([call_id]) =>
      example("capstan.permission_decided", { call_id, decision: which % 2 === 0 ? "allow" : "deny" }),
    ),
    ...pick(calls).map(([call_id, { eventId, type }]) => {
      if (type === "agent.custom_tool_use") return example("user.custom_tool_result", { custom_tool_use_id: eventId });
      return type === "agent.mcp_tool_use"
        ? example("agent.mcp_tool_result", { call_id, mcp_tool_use_id: eventId })
        : example("agent.tool_result", { call_id, tool_use_id: eventId });
    }),
    ...threads.flatMap((thread) => [
      example("session.thread_status_idle", thread),
      example("session.thread_status_terminated", thread),
    ]),
  ];
}
