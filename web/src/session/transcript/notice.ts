import type { LoggedEvent } from "../../../../src/client/index.ts";
import { configurationDetail } from "../../parts/failure/configuration-detail.ts";
import { withheldDetail } from "../../parts/failure/withheld-detail.ts";
import { duration, money, thousands } from "../../../../src/words/amounts.ts";

export interface Notice {
  readonly tone: "quiet" | "good" | "waiting" | "bad";
  readonly title: string;
  readonly detail?: string;
  /** The last output of a program, verbatim. */
  readonly stderr?: string;
  /** A session to link to. */
  readonly session?: string;
}

/** Describes an event outside the conversation. Undefined for events that a transcript does not show. */
export function noticeOf(event: LoggedEvent): Notice | undefined {
  switch (event.type) {
    case "session.error": {
      const { message, retry_status, next_step, stderr, retry_after_ms, http_status } = event.error;
      const isRetrying = retry_status.type === "retrying";
      const wait = retry_after_ms === undefined ? "" : ` in ${duration(retry_after_ms)}`;
      const isNamed = http_status == null || message.includes(String(http_status));
      const status = isNamed ? "" : ` (HTTP ${http_status})`;
      return {
        tone: isRetrying ? "waiting" : "bad",
        title: isRetrying ? `Retrying${wait}: ${message}${status}` : `${message}${status}`,
        ...(next_step !== undefined && { detail: next_step }),
        ...(stderr !== undefined && stderr !== "" && { stderr }),
      };
    }
    case "capstan.process_lost":
      return {
        tone: "waiting",
        title: `The agent's process was lost: ${event.reason}`,
        detail: "The session continues with a new one.",
        ...(event.stderr !== "" && { stderr: event.stderr }),
      };
    case "capstan.limit_reached":
      return {
        tone: "bad",
        title: limitTitle(event),
        detail: wayOn(event.which, event.scope ?? "session"),
      };
    case "capstan.budget_warned":
      return {
        tone: "waiting",
        title: `${Math.round(event.at * 100)}% of the ${event.scope}'s limit is spent: ${limit(event.which, event.spent)} of ${limit(event.which, event.limit)}`,
        ...(event.agreed_by !== undefined && { detail: `${event.agreed_by} agreed to continue.` }),
      };
    case "capstan.budget_changed":
      return {
        tone: "quiet",
        title:
          event.budget.usd === undefined ? "The limits were changed" : `The limit is now ${money(event.budget.usd)}`,
      };
    case "capstan.model_changed":
      return { tone: "quiet", title: `The model is now ${event.model}` };
    case "capstan.mode_changed":
      return { tone: "quiet", title: `The mode is now ${event.mode}` };
    case "capstan.engine_changed":
      return { tone: "quiet", title: `The engine will be ${event.engine} from the next turn` };
    case "user.interrupt":
      return { tone: "quiet", title: "Interrupted" };
    case "agent.thread_context_compacted":
      return {
        tone: "quiet",
        title: `The conversation was summarized (it had ${thousands(event.tokens_before)} tokens)`,
        detail: event.summary,
      };
    case "capstan.session_forked":
      return { tone: "quiet", title: "Forked from another session", session: event.from_session_id };
    case "capstan.session_archived":
      return { tone: "quiet", title: "Archived. The session can no longer be continued." };
    case "capstan.rewound":
      return {
        tone: "quiet",
        title: event.to_seq === undefined ? "The files were rewound" : "The files and the conversation were rewound",
      };
    case "capstan.rewind_failed":
      return { tone: "bad", title: "The rewind failed", detail: event.reason };
    case "capstan.checkpoint_failed":
      return { tone: "waiting", title: "No checkpoint could be taken", detail: event.reason };
    case "capstan.configuration_changed":
      return { tone: "waiting", title: "This turn changed configuration", detail: configurationDetail(event) };
    case "capstan.settings_withheld":
      return { tone: "waiting", title: "Some project settings have no effect", detail: withheldDetail(event) };
    case "capstan.workspace_busy":
      return {
        tone: "waiting",
        title: "Queued: another session is working in this directory.",
        session: event.session_id,
      };
    case "capstan.workspace_exported":
      return { tone: "good", title: `The changes were exported (${event.how})`, detail: event.target };
    case "capstan.workspace_removed":
      return { tone: "quiet", title: "The workspace was removed" };
    case "capstan.resource_added":
      return { tone: "quiet", title: `Added ${event.mount_path}` };
    case "session.status_rescheduled":
      return { tone: "waiting", title: "The turn will continue shortly" };
    case "session.status_terminated":
      return { tone: "bad", title: "The session has ended" };
    default:
      return undefined;
  }
}

const SCOPES = { session: "Session", agent: "Agent", project: "Project", day: "Daily" } as const;

/** A request is not sent if it could exceed the limit, so less than the limit may be spent. */
function limitTitle({
  which,
  spent,
  limit: most,
  scope = "session",
}: Extract<LoggedEvent, { type: "capstan.limit_reached" }>): string {
  const isRequestLimit = which === "usd" || which.endsWith("tokens");
  if (isRequestLimit && spent < most)
    return `${SCOPES[scope]} budget reached: ${limit(which, spent)} used; the next request could exceed the limit of ${limit(which, most)}`;
  return `${SCOPES[scope]} limit reached: ${limit(which, spent)} of ${limit(which, most)}`;
}

/** What to do depends on whose limit it is. */
function wayOn(which: string, scope: string): string {
  if (which === "steps" || which === "deadline")
    return "This limit applies to one turn. Send a message to start another.";
  if (scope === "day") return "It resets tomorrow, or an admin can raise it in the server's settings.";
  if (scope !== "session") return `An admin can raise the ${scope} limit in the server's settings.`;
  return which === "usd"
    ? "To continue, raise it with “Change limit” in the menu at the top."
    : "It was set when the session started. Fork the session, or start one with a higher limit.";
}

function limit(which: string, amount: number): string {
  if (which === "usd") return money(amount);
  if (which === "deadline") return duration(amount);
  if (which.endsWith("tokens")) return `${thousands(amount)} ${which.replace("_", " ")}`;
  return `${thousands(amount)} ${which.replaceAll("_", " ")}`;
}
