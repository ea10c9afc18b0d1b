import type { LoggedEvent } from "../../../src/client/index.ts";
import { configurationDetail } from "../parts/failure/configuration-detail.ts";
import { withheldDetail } from "../parts/failure/withheld-detail.ts";
import type { EventOf } from "./groups.ts";
import { aboutCall, oneLine, saidIn } from "./one-line.ts";
import { duration, money, percent, size, thousands } from "../../../src/words/amounts.ts";

/** Only the names; parts/tone.tsx defines their look. */
type Tone = "running" | "waiting" | "good" | "bad" | "accent" | "quiet";

export interface Summary {
  /** What happened, in Capstan's words. */
  readonly text: string;
  /** Words of people, models and tools, in any language and direction. */
  readonly said?: string;
  readonly tone: Tone;
}

/** Summarizes an event in one line. */
export function summaryOf(event: LoggedEvent): Summary {
  switch (event.type) {
    case "user.message":
      return tell(event.command === undefined ? "Message" : `Message, from ${event.command}`, {
        said: saidIn(event.content),
        tone: "accent",
      });
    case "user.interrupt":
      return tell("Interrupted the turn", { tone: "waiting" });
    case "user.tool_confirmation":
      return confirmation(event);
    case "agent.message":
      return tell("Said", { said: saidIn(event.content), tone: "accent" });
    case "agent.thinking":
      return tell("Thought", { said: oneLine(event.thinking) });
    case "agent.tool_use":
      return tell(`Calls ${event.name}`, { said: aboutCall(event.input), tone: "running" });
    case "agent.mcp_tool_use":
      return tell(`Calls ${event.name} of ${event.mcp_server_name}`, {
        said: aboutCall(event.input),
        tone: "running",
      });
    case "agent.custom_tool_use":
      return tell(`Asks a client to run ${event.name}`, { said: aboutCall(event.input), tone: "waiting" });
    case "agent.tool_result":
    case "agent.mcp_tool_result":
    case "user.custom_tool_result":
      return result(event);
    case "agent.thread_context_compacted": {
      const after = event.tokens_after === undefined ? "a summary" : `${thousands(event.tokens_after)} tokens`;
      const why = event.trigger === "auto" ? "because the context was full" : "on request";
      return tell(`Summarized from ${thousands(event.tokens_before)} tokens to ${after}, ${why}`, {
        said: oneLine(event.summary),
      });
    }
    case "session.status_running":
      return tell(event.goes_on === true ? "Turn continued" : "Turn started", { tone: "running" });
    case "session.status_idle":
      return idle("Turn", event);
    case "session.status_rescheduled":
      return tell("Turn interrupted; it will be retried", { tone: "waiting" });
    case "session.status_terminated":
      return tell("Session ended permanently", { tone: "bad" });
    case "session.error":
      return tell(`Error ${event.error.code}, ${retryText(event.error)}`, {
        said: oneLine(event.error.message),
        tone: "bad",
      });
    case "session.usage": {
      const { usage } = event;
      return tell(
        `Total so far: ${money(usage.usd)}, ${thousands(usage.input_tokens)} tokens in, ${thousands(usage.output_tokens)} out`,
      );
    }
    case "session.updated":
      return summarizeUpdate(event);
    case "session.thread_created":
      return tell(`Subagent ${event.agent_name} started`, { said: oneLine(event.task), tone: "running" });
    case "session.thread_status_running":
      return tell(`Subagent ${event.agent_name} is working`, { tone: "running" });
    case "session.thread_status_idle":
      return idle(`Subagent ${event.agent_name}`, event);
    case "session.thread_status_terminated":
      return tell(`Subagent ${event.agent_name} ended permanently`);
    case "span.model_request_start":
      return tell(`Request to ${event.model}${requestClass(event)}`);
    case "span.model_request_end":
      return summarizeResponse(event);
    case "capstan.input_delivered":
      return tell(`Agent received ${count(event.event_ids.length, "message")}`);
    case "capstan.prompt_rendered":
      return tell(
        `Instructions sent to ${event.model}, with ${count(event.tools.length, "tool")} (engine: ${event.engine} ${event.engine_version})`,
      );
    case "capstan.inputs_given":
      return tell(`Received ${count(Object.keys(event.values).length, "input")}`, {
        said: oneLine(JSON.stringify(event.values)),
      });
    case "capstan.project_file_found":
      return tell(
        `Found ${event.path}, ${size(event.bytes)}, ${event.used ? "added to the instructions" : "not used"}`,
      );
    case "capstan.permission_decided":
      return tell(`${event.tool} ${event.decision === "allow" ? "allowed" : "denied"} by ${event.decided_by}`, {
        said: oneLine(event.reason),
        tone: event.decision === "allow" ? "good" : "bad",
      });
    case "capstan.approval_requested":
      return tell(ASKS[event.kind], { said: oneLine(event.title), tone: "waiting" });
    case "capstan.elicitation_settled":
      return tell(`Question from ${event.server}: ${ELICITED[event.action]} by ${event.decided_by}`, {
        tone: event.action === "accept" ? "good" : "bad",
      });
    case "capstan.tool_progress":
      return tell(`Call running for ${duration(event.elapsed_seconds * 1_000)}`, {
        ...(event.text !== undefined && { said: oneLine(event.text) }),
      });
    case "capstan.limit_reached":
      return tell(`Limit reached for ${limitName(event)}: ${event.spent} of ${event.limit}`, { tone: "bad" });
    case "capstan.budget_warned": {
      const agreed = event.agreed_by === undefined ? "" : `; ${event.agreed_by} agreed to continue`;
      return tell(`${percent(event.at)} of the limit for ${limitName(event)} used${agreed}`, { tone: "waiting" });
    }
    case "capstan.budget_changed":
      return tell("Session limits changed", { said: oneLine(JSON.stringify(event.budget)) });
    case "capstan.model_changed":
      return tell(`Model changed to ${event.model}`);
    case "capstan.mode_changed":
      return tell(`Mode changed to ${event.mode}`);
    case "capstan.engine_changed":
      return tell(`Engine changes from ${event.from} to ${event.engine} with the next turn`);
    case "capstan.process_started":
      return tell(
        `${event.pid === undefined ? "Session opened in the host" : `Agent process ${event.pid} started`}${event.engine === undefined ? "" : ` on the ${event.engine} engine`}, ${HISTORY[event.history]}${sandbox(event)}`,
        {
          tone: event.sandbox === "unavailable" ? "waiting" : "quiet",
        },
      );
    case "capstan.message_withdrawn":
      return tell("An incomplete message was removed from the conversation");
    case "capstan.process_lost":
      return tell("Agent process was lost", { said: oneLine(event.reason), tone: "bad" });
    case "capstan.session_forked":
      return tell(`Forked from ${event.from_session_id} at event ${event.from_seq}`);
    case "capstan.session_archived":
      return tell("Session archived");
    case "capstan.hook_ran":
      return tell(`Hook ${event.name} (${event.hook}) ${event.outcome} in ${duration(event.duration_ms)}`, {
        ...(event.message !== undefined && { said: oneLine(event.message) }),
        tone: event.outcome === "denied" || event.outcome === "failed" ? "bad" : "quiet",
      });
    case "capstan.workspace_prepared":
      return tell(`Workspace prepared, ${event.kind}, in ${event.cwd}`, { said: oneLine(event.notes.join(" ")) });
    case "capstan.workspace_busy":
      return tell(`Queued: session ${event.session_id} is working in the same directory`, { tone: "waiting" });
    case "capstan.checkpoint_taken":
      return tell(`Checkpoint ${WHEN[event.reason]}: ${changes(event)}`);
    case "capstan.checkpoint_failed":
      return tell("No checkpoint could be taken", { said: oneLine(event.reason), tone: "bad" });
    case "capstan.configuration_changed":
      return tell(`Configuration changed: ${count(event.changed_count ?? event.changed.length, "place")}`, {
        said: oneLine(configurationDetail(event)),
        tone: "bad",
      });
    case "capstan.settings_withheld":
      return tell(`Settings withheld: ${count(event.files.length, "file")}`, {
        said: oneLine(withheldDetail(event)),
        tone: "waiting",
      });
    case "capstan.programs_pinned":
      return tell(`Programs of hooks, functions and MCP servers pinned: ${count(event.files.length, "file")}`, {
        said: oneLine(event.files.map(({ path }) => path).join(", ")),
      });
    case "capstan.rewind_started":
      return tell(`Rewinding files to checkpoint ${event.checkpoint_id}`, { tone: "running" });
    case "capstan.rewound": {
      const talk = event.to_seq === undefined ? "" : `, and the conversation to event ${event.to_seq}`;
      return tell(`Files rewound to checkpoint ${event.checkpoint_id}${talk}`, { tone: "good" });
    }
    case "capstan.rewind_failed":
      return tell("Rewinding the files failed", { said: oneLine(event.reason), tone: "bad" });
    case "capstan.workspace_exported":
      return tell(`Changes exported (${event.how}) to ${event.target}`);
    case "capstan.workspace_removed":
      return tell(event.reason === "imported" ? "Files were not imported with the session" : "Workspace removed");
    case "capstan.resource_added":
      return tell(`Added to the workspace: ${event.mount_path}`);
    default:
      return unknown(event);
  }
}

function tell(text: string, { said, tone = "quiet" }: { said?: string; tone?: Tone } = {}): Summary {
  return { text, ...(said !== undefined && said !== "" && { said }), tone };
}

/** Unreachable for the compiler, but a newer server may send other types. */
function unknown(event: never): Summary {
  return tell((event as LoggedEvent).type);
}

function retryText({ retry_status: status, retries = 0 }: EventOf<"session.error">["error"]): string {
  if (status.type === "retrying") return "retrying";
  return retries === 0 ? "not retried" : `gave up after ${count(retries, "retry", "retries")}`;
}

function count(of: number, what: string, several = `${what}s`): string {
  return `${of} ${of === 1 ? what : several}`;
}

const ELICITED = { accept: "answered", decline: "declined", cancel: "canceled" } as const;
const HISTORY = {
  new: "with an empty history",
  resumed: "resuming its transcript",
  reseeded: "with a history rebuilt from this log",
} as const;
const WHEN = {
  call: "before a call",
  call_end: "after a call",
  turn_end: "at the end of the turn",
  rewind: "before a rewind",
  request: "on request",
};
const ASKS = {
  tool: "Asks for approval",
  plan: "Asks for approval of a plan",
  question: "Asks a question",
  custom_tool: "Waiting for a client",
} as const;
/** How a turn ended. */
export const STOPS = {
  end_turn: "ended",
  requires_action: "is waiting for a person",
  retries_exhausted: "ended with an error",
  budget_reached: "ended at a limit",
  refusal: "ended: the model refused",
} as const;

function confirmation(event: EventOf<"user.tool_confirmation">): Summary {
  const { result, scope, from, deny_message: why, answers } = event;
  const kept = scope === undefined || scope === "once" ? "" : `, for ${SCOPES[scope]}`;
  const where = from === undefined ? "" : `, from ${from}`;
  const said = why ?? (answers === undefined ? "" : Object.values(answers).join(", "));
  return tell(`${result === "allow" ? "Allowed" : "Denied"} the call${kept}${where}`, {
    said: oneLine(said),
    tone: result === "allow" ? "good" : "bad",
  });
}

const SCOPES = { session: "the session", project: "the project", always: "always" } as const;

type Result = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;

function result({ outcome, is_error: isError, content }: Result): Summary {
  const is = outcome ?? (isError === true ? "failed" : "completed");
  const text = { completed: "Result", failed: "Call failed", denied: "Call denied", aborted: "Call aborted" }[is];
  return tell(text, { said: saidIn(content), tone: is === "completed" ? "good" : "bad" });
}

function idle(what: string, event: EventOf<"session.status_idle" | "session.thread_status_idle">): Summary {
  const { type } = event.stop_reason;
  const output = "output" in event && event.output !== undefined ? oneLine(JSON.stringify(event.output)) : "";
  const tone = type === "end_turn" ? "good" : type === "requires_action" ? "waiting" : "bad";
  return tell(`${what} ${STOPS[type]}`, { said: event.stop_details?.explanation ?? output, tone });
}

function summarizeUpdate(event: EventOf<"session.updated">): Summary {
  const changed = [
    event.title !== undefined && "title",
    event.metadata !== undefined && "metadata",
    event.budget !== undefined && "limit",
  ].filter((name) => name !== false);
  return tell(`Updated: ${changed.join(", ")}`, {
    ...(typeof event.title === "string" && { said: oneLine(event.title) }),
  });
}

function requestClass(event: EventOf<"span.model_request_start">): string {
  return event.request_class === "main" ? "" : ` (${event.request_class})`;
}

function summarizeResponse(event: EventOf<"span.model_request_end">): Summary {
  const { model, model_usage: used, http_status: status } = event;
  const cost = event.usd === null ? "price unknown" : money(event.usd);
  if (event.is_error === true)
    return tell(`${model} failed${status === null ? "" : ` with status ${status}`}, ${cost}`, { tone: "bad" });
  const read = used.input_tokens + used.cache_read_input_tokens + used.cache_creation_input_tokens;
  const about = event.estimated ? " (estimated)" : "";
  return tell(`${model} answered: ${thousands(read)} tokens in, ${thousands(used.output_tokens)} out${about}, ${cost}`);
}

function limitName(event: EventOf<"capstan.limit_reached" | "capstan.budget_warned">): string {
  const whose = event.scope === undefined || event.scope === "session" ? "" : ` (${event.scope})`;
  return `${event.which.replaceAll("_", " ")}${whose}`;
}

function sandbox(event: EventOf<"capstan.process_started">): string {
  if (event.sandbox === undefined) return "";
  return event.sandbox === "unavailable" ? "; sandbox unavailable" : `; sandbox ${event.sandbox}`;
}

function changes(event: EventOf<"capstan.checkpoint_taken">): string {
  const { added, modified, deleted } = event;
  if (added + modified + deleted === 0) return "no file changed";
  return `${added} added, ${modified} changed, ${deleted} deleted`;
}
