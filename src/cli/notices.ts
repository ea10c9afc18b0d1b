import type { LoggedEvent, Preview } from "../core/events.ts";
import { shortId } from "./text.ts";
import { escapeHidden } from "../words/hidden-text.ts";

/** What an event has to tell a person about the session's surroundings: its files and its sandbox; undefined for all others. */
export function noticeOf(event: LoggedEvent | Preview): string | undefined {
  switch (event.type) {
    case "capstan.workspace_busy":
      return `Waiting for session ${shortId(event.session_id)}, which works in this directory.`;
    case "capstan.checkpoint_failed":
      return `WARNING: what the agent changes cannot be undone. ${escapeHidden(event.reason)}`;
    case "capstan.process_started":
      if (event.sandbox !== "unavailable") return undefined;
      return `WARNING: commands run without a sandbox. ${escapeHidden(event.sandbox_missing ?? "")}`.trimEnd();
    case "capstan.project_file_found":
      if (event.used) return undefined;
      return `${escapeHidden(event.path)} is not read. To use it, write setting_sources: [project] in the agent file.`;
    case "capstan.rewound": {
      const what = event.to_seq === undefined ? "The files were" : "The files and the conversation were";
      return `${what} rewound to checkpoint ${shortId(event.checkpoint_id)}.`;
    }
    case "capstan.rewind_failed":
      return `The files could not be rewound. ${escapeHidden(event.reason)}`;
    default:
      return undefined;
  }
}
