import type { LoggedEvent } from "../../../../src/client/index.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

type SettingsWithheld = Extract<LoggedEvent, { type: "capstan.settings_withheld" }>;

/** Which fields of which files have no effect, why, and what to do. */
export function withheldDetail({ files, next_step }: SettingsWithheld): string {
  const sentences = files.map(({ path, reason, fields, fields_count: count }) => {
    const more = count > fields.length ? [`${count - fields.length} more`] : [];
    const why = reason === "untrusted" ? "not trusted" : "your own settings are stricter";
    return `${path} (${why}): ${[...fields, ...more].join(", ")}.`;
  });
  return escapeHidden([...sentences, next_step].join(" "));
}
