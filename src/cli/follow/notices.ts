import type { EventOf, LoggedEvent, Preview } from "../../core/events/events.ts";
import { shortId } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

type ConfigurationChanged = Pick<
  EventOf<"capstan.configuration_changed">,
  "changed" | "changed_count" | "disabled" | "problem"
>;

/** A notice about the session's files, sandbox or settings; undefined for other events. */
export function noticeOf(event: LoggedEvent | Preview): string | undefined {
  switch (event.type) {
    case "capstan.workspace_busy":
      return `Waiting for session ${shortId(event.session_id)}, which is working in this directory.`;
    case "capstan.checkpoint_failed":
      return `WARNING: changes by the agent cannot be undone. ${escapeHidden(event.reason)}`;
    case "capstan.configuration_changed":
      return configurationNotice(event);
    case "capstan.process_started":
      if (event.sandbox !== "unavailable") return undefined;
      return `WARNING: commands run without a sandbox. ${escapeHidden(event.sandbox_missing ?? "")}`.trimEnd();
    case "capstan.project_file_found":
      if (event.used) return undefined;
      return `${escapeHidden(event.path)} is not read. To use it, add setting_sources: [project] to the agent file.`;
    case "capstan.settings_withheld":
      return withheldNotice(event);
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

/** The same text as at the start of a command, so that it is shown only once. */
function withheldNotice({
  files,
  next_step,
}: Pick<EventOf<"capstan.settings_withheld">, "files" | "next_step">): string {
  const sentences = files.map(({ path, reason, fields, fields_count: count }) => {
    const more = count > fields.length ? [`${count - fields.length} more`] : [];
    const names = escapeHidden([...fields, ...more].join(", "));
    return reason === "untrusted"
      ? `${escapeHidden(path)} is not trusted, so these settings have no effect: ${names}.`
      : `Your own settings are stricter than ${escapeHidden(path)}, so these settings have no effect: ${names}.`;
  });
  return [...sentences, escapeHidden(next_step)].join(" ");
}

function configurationNotice({ changed, changed_count: count, disabled, problem }: ConfigurationChanged): string {
  const names = changed.map(({ path, read_by }) => `${escapeHidden(path)} (read by ${read_by})`);
  const more = count === undefined ? [] : [`${count - changed.length} more`];
  const sentences = [
    ...(names.length > 0
      ? [`This turn changed configuration: ${[...names, ...more].join(", ")}. Review it before you use it.`]
      : []),
    ...disabled.map(({ path, moved_to }) => `${escapeHidden(path)} was disabled and is now ${escapeHidden(moved_to)}.`),
    ...(problem === undefined
      ? []
      : [`The workspace could not be checked for configuration: ${escapeHidden(problem)}`]),
  ];
  return `WARNING: ${sentences.join(" ")}`;
}
