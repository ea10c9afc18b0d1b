import type { EventDraft } from "../../core/events/events.ts";
import type { Withheld } from "./no-widening.ts";
import type { JudgedItem } from "./trust-gate.ts";

/** The log entry about settings that have no effect in a session. */
export type WithheldNote = Omit<EventDraft<"capstan.settings_withheld">, "type">;

/** An agent can write a file with any number of fields. */
const MOST_FIELDS = 20;

/** Undefined if everything has its effect. */
export function withheldNote({
  trust,
  withheld,
}: {
  readonly trust: readonly JudgedItem[];
  readonly withheld: readonly Withheld[];
}): WithheldNote | undefined {
  const bySource = Map.groupBy(withheld, ({ source, reason }) => `${reason} ${source}`);
  const files = [...bySource.values()].map((all): WithheldNote["files"][number] => {
    const [first] = all as [Withheld];
    const item = trust.find((one) => !one.isTrusted && one.item.path === first.source)?.item;
    const fields = [...new Set(all.map(({ field }) => field))];
    return {
      path: first.source,
      reason: first.reason,
      ...(first.reason === "untrusted" && item !== undefined && { hash: item.hash }),
      fields: fields.slice(0, MOST_FIELDS),
      fields_count: fields.length,
    };
  });
  if (files.length === 0) return undefined;
  const isUntrusted = files.some(({ reason }) => reason === "untrusted");
  const named = trust.flatMap(({ item, isTrusted }) =>
    !isTrusted && item.widens.length > 0 && (item.kind === "agent" || item.kind === "suite") ? [item.path] : [],
  );
  const next_step = isUntrusted
    ? `To review and trust: ${["capstan trust", ...named].join(" ")}`
    : "To let trusted projects loosen them, set projects_may_loosen in your own settings.";
  return { files, next_step };
}
