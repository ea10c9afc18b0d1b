import type { LoggedEvent } from "../../../../src/client/index.ts";

type ConfigurationChanged = Extract<LoggedEvent, { type: "capstan.configuration_changed" }>;

/** What changed, what reads it, and what was disabled. */
export function configurationDetail({ changed, changed_count, disabled, problem }: ConfigurationChanged): string {
  const names = changed.map(({ path, read_by }) => `${path} (read by ${read_by})`);
  const more = changed_count === undefined ? [] : [`${changed_count - changed.length} more`];
  return [
    ...(names.length > 0 ? [`${[...names, ...more].join(", ")}. Check it before you use it.`] : []),
    ...disabled.map(({ path, moved_to }) => `${path} was disabled and is now ${moved_to}.`),
    ...(problem === undefined ? [] : [`The workspace could not be checked: ${problem}`]),
  ].join(" ");
}
