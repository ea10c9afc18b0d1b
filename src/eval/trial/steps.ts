import type { LoggedEvent } from "../../core/events/events.ts";
import type { TrialStep } from "../../core/suite/suite-run.ts";
import { textOf } from "../../core/text/text.ts";
import { threadNames } from "./facts.ts";

/** In characters: enough to understand a trial, and short enough to keep a report of many small. */
const MAX_TEXT = 8_000;
const MAX_TITLE = 160;

/** The events of a session in order, for people. */
export function stepsOf(events: readonly LoggedEvent[]): readonly TrialStep[] {
  const nameOf = threadNames(events);
  const steps: TrialStep[] = [];
  const byCall = new Map<string, number>();
  const push = (step: TrialStep): void => void steps.push(step);
  for (const event of events) {
    const thread = "session_thread_id" in event ? nameOf(event.session_thread_id) : "main";
    switch (event.type) {
      case "user.message":
        push({ thread, kind: "user", ...titleAndText(textOf(event.content)) });
        break;
      case "agent.message":
        push({ thread, kind: "message", ...titleAndText(textOf(event.content)) });
        break;
      case "agent.thinking":
        push({ thread, kind: "thinking", ...titleAndText(event.thinking) });
        break;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        byCall.set(event.call_id, steps.length);
        push({
          thread,
          kind: "tool",
          title: line(`${event.name} ${JSON.stringify(event.input)}`),
          text: cut(JSON.stringify(event.input, null, 2)),
        });
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result": {
        const index = byCall.get(event.call_id) ?? -1;
        const call = steps[index];
        if (call !== undefined)
          steps[index] = {
            ...call,
            outcome: event.outcome,
            text: cut(`${call.text ?? ""}\n→ ${textOf(event.content ?? [])}`),
          };
        break;
      }
      case "capstan.approval_requested":
        push({ thread, kind: "approval", ...titleAndText(`${event.title}\n${event.reason}`) });
        break;
      case "session.error":
        push({ thread, kind: "error", ...titleAndText(event.error.message) });
        break;
      case "capstan.limit_reached":
        push({ thread, kind: "limit", title: `${event.which}: ${event.spent} of ${event.limit}` });
        break;
      case "capstan.process_lost":
        push({ thread, kind: "note", title: "The agent's process was lost." });
        break;
      case "session.status_idle":
        push({ thread, kind: "note", title: `Idle: ${event.stop_reason.type}` });
        break;
      default:
    }
  }
  return steps;
}

function titleAndText(text: string): Pick<TrialStep, "title" | "text"> {
  const title = line(text);
  return title === text ? { title } : { title, text: cut(text) };
}

function line(text: string): string {
  const first = text.trim().split("\n", 1)[0] ?? "";
  return first.length > MAX_TITLE ? `${first.slice(0, MAX_TITLE)}…` : first;
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n… (${text.length - MAX_TEXT} more characters)` : text;
}
