import type { EventOf, LoggedEvent, Preview } from "../core/events.ts";
import { printable, shortId } from "./text.ts";

type ConfigurationChanged = Pick<
  EventOf<"capstan.configuration_changed">,
  "changed" | "changed_count" | "disabled" | "problem"
>;

/** What an event has to tell a person about the session's surroundings: its files and its sandbox; undefined for all others. */
export function noticeOf(event: LoggedEvent | Preview): string | undefined {
  switch (event.type) {
    case "capstan.workspace_busy":
      return `Waiting for session ${shortId(event.session_id)}, which works in this directory.`;
    case "capstan.checkpoint_failed":
      return `WARNING: what the agent changes cannot be undone. ${printable(event.reason)}`;
    case "capstan.configuration_changed":
      return configurationNotice(event);
    case "capstan.process_started":
      if (event.sandbox !== "unavailable") return undefined;
      return `WARNING: commands run without a sandbox. ${printable(event.sandbox_missing ?? "")}`.trimEnd();
    case "capstan.project_file_found":
      if (event.used) return undefined;
      return `${printable(event.path)} is not read. To use it, write setting_sources: [project] in the agent file.`;
    case "capstan.rewound": {
      const what = event.to_seq === undefined ? "The files were" : "The files and the conversation were";
      return `${what} rewound to checkpoint ${shortId(event.checkpoint_id)}.`;
    }
    case "capstan.rewind_failed":
      return `The files could not be rewound. ${printable(event.reason)}`;
    default:
      return undefined;
  }
}

function configurationNotice({ changed, changed_count: count, disabled, problem }: ConfigurationChanged): string {
  const names = changed.map(({ path, read_by }) => `${printable(path)} (read by ${read_by})`);
  const more = count === undefined ? [] : [`${count - changed.length} more`];
  const sentences = [
    ...(names.length > 0
      ? [`This turn changed configuration: ${[...names, ...more].join(", ")}. Check it before you use it.`]
      : []),
    ...disabled.map(({ path, moved_to }) => `${printable(path)} was disabled and is now ${printable(moved_to)}.`),
    ...(problem === undefined ? [] : [`The workspace could not be checked for configuration: ${printable(problem)}`]),
  ];
  return `WARNING: ${sentences.join(" ")}`;
}
