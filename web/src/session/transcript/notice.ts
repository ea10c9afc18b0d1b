import type { LoggedEvent } from "../../../../src/client/index.ts";
import { configurationDetail } from "../../parts/failure/configuration-detail.ts";
import { withheldDetail } from "../../parts/failure/withheld-detail.ts";
import { duration, money, thousands } from "../../../../src/words/amounts.ts";

export interface Notice {
  readonly tone: "quiet" | "good" | "waiting" | "bad";
  readonly title: string;
  readonly detail?: string;
  /** What a program said before it ended, word for word. */
  readonly stderr?: string;
  /** Where the reader may go. */
  readonly session?: string;
}

/** What happened beside the conversation, as a sentence. Undefined for what has no place in a transcript. */
export function noticeOf(event: LoggedEvent): Notice | undefined {
  switch (event.type) {
    case "session.error": {
      const { message, retry_status, next_step, stderr, retry_after_ms, http_status } = event.error;
      const isRetrying = retry_status.type === "retrying";
      const wait = retry_after_ms === undefined ? "" : ` in ${duration(retry_after_ms)}`;
      const status = http_status == null ? "" : ` (HTTP ${http_status})`;
      return {
        tone: isRetrying ? "waiting" : "bad",
        title: isRetrying ? `Trying again${wait}: ${message}${status}` : `${message}${status}`,
        ...(next_step !== undefined && { detail: next_step }),
        ...(stderr !== undefined && stderr !== "" && { stderr }),
      };
    }
    case "capstan.process_lost":
      return {
        tone: "waiting",
        title: `The agent's process was lost: ${event.reason}`,
        detail: "The session goes on with a new one.",
        ...(event.stderr !== "" && { stderr: event.stderr }),
      };
    case "capstan.limit_reached":
      return {
        tone: "bad",
        title: `Limit reached: ${limit(event.which, event.spent)} of ${limit(event.which, event.limit)} (${event.scope ?? "session"})`,
        detail: wayOn(event.which, event.scope ?? "session"),
      };
    case "capstan.budget_warned":
      return {
        tone: "waiting",
        title: `${Math.round(event.at * 100)}% of the ${event.scope}'s limit is spent: ${limit(event.which, event.spent)} of ${limit(event.which, event.limit)}`,
        ...(event.agreed_by !== undefined && { detail: `${event.agreed_by} agreed to go on.` }),
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
      return { tone: "quiet", title: `The engine is ${event.engine} from the next turn on` };
    case "user.interrupt":
      return { tone: "quiet", title: "Interrupted" };
    case "agent.thread_context_compacted":
      return {
        tone: "quiet",
        title: `The conversation was summarised (${thousands(event.tokens_before)} tokens before)`,
        detail: event.summary,
      };
    case "capstan.session_forked":
      return { tone: "quiet", title: "Forked from another session", session: event.from_session_id };
    case "capstan.session_archived":
      return { tone: "quiet", title: "Archived: nothing more will happen here" };
    case "capstan.rewound":
      return {
        tone: "quiet",
        title: event.to_seq === undefined ? "The files were rewound" : "The files and the conversation were rewound",
      };
    case "capstan.rewind_failed":
      return { tone: "bad", title: "The rewind did not succeed", detail: event.reason };
    case "capstan.checkpoint_failed":
      return { tone: "waiting", title: "No checkpoint could be taken", detail: event.reason };
    case "capstan.configuration_changed":
      return { tone: "waiting", title: "This turn changed configuration", detail: configurationDetail(event) };
    case "capstan.settings_withheld":
      return { tone: "waiting", title: "Some project settings have no effect", detail: withheldDetail(event) };
    case "capstan.workspace_busy":
      return {
        tone: "waiting",
        title: "Waits for another session that works in the same directory",
        session: event.session_id,
      };
    case "capstan.workspace_exported":
      return { tone: "good", title: `The changes were taken out (${event.how})`, detail: event.target };
    case "capstan.workspace_removed":
      return { tone: "quiet", title: "The workspace was removed" };
    case "capstan.resource_added":
      return { tone: "quiet", title: `Added ${event.mount_path}` };
    case "session.status_rescheduled":
      return { tone: "waiting", title: "The turn goes on in a moment" };
    case "session.status_terminated":
      return { tone: "bad", title: "The session has ended" };
    default:
      return undefined;
  }
}

/** Whose limit it is decides what helps. */
function wayOn(which: string, scope: string): string {
  if (which === "steps" || which === "deadline") return "It is for one turn: the next message begins another.";
  if (scope === "day") return "It ends with the day, or an admin raises it in the server's settings.";
  if (scope !== "session") return `It is the limit of the ${scope}; an admin raises it in the server's settings.`;
  return which === "usd"
    ? "Change the limit in the menu at the top to go on."
    : "It was set with the session. Fork the session, or start one with a higher limit.";
}

function limit(which: string, amount: number): string {
  if (which === "usd") return money(amount);
  if (which === "deadline") return duration(amount);
  if (which.endsWith("tokens")) return `${thousands(amount)} ${which.replace("_", " ")}`;
  return `${thousands(amount)} ${which.replaceAll("_", " ")}`;
}
