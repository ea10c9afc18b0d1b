import { Brain, FileDiff, MessageSquare, Power, Scale, Wrench } from "lucide-react";
import { type ComponentType, memo } from "react";
import type { ClippedEvent } from "../../../src/client/index.ts";
import { cx } from "../parts/cx.ts";
import { Clock } from "../parts/figures/figures.tsx";
import { TONE_LOOKS } from "../parts/tone.tsx";
import { doerOf, type Group, groupOf } from "./groups.ts";
import { summaryOf } from "./summary.ts";
import { duration } from "../../../src/words/amounts.ts";

export const GROUP_ICONS: Readonly<Record<Group, ComponentType<{ className?: string }>>> = {
  messages: MessageSquare,
  tools: Wrench,
  decisions: Scale,
  requests: Brain,
  files: FileDiff,
  session: Power,
};

/** Who did it. */
export function whoOf(event: ClippedEvent, names: ReadonlyMap<string, string>): string {
  const doer = doerOf(event);
  switch (doer.kind) {
    case "user":
      return doer.name ?? "user";
    case "agent":
      return "agent";
    case "subagent":
      return `subagent ${names.get(doer.threadId) ?? doer.threadId}`;
    case "runtime":
      return "Capstan";
  }
}

export const EventRow = memo(function EventRow({
  event,
  gap,
  names,
  isChosen,
}: {
  readonly event: ClippedEvent;
  /** In milliseconds since the previous event; undefined if one of them has no time. */
  readonly gap: number | undefined;
  readonly names: ReadonlyMap<string, string>;
  readonly isChosen: boolean;
}) {
  const { text, said, tone } = summaryOf(event);
  const Icon = GROUP_ICONS[groupOf(event)];
  // The faintest text has too little contrast on the selected row.
  const faint = isChosen ? "text-muted" : "text-faint";
  return (
    <div
      className={cx(
        "flex h-full cursor-pointer items-center gap-2 border-b border-line px-2 sm:px-3",
        isChosen ? "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]" : "hover:bg-sunken",
      )}
    >
      <span data-figure className={cx("w-10 shrink-0 text-right font-mono text-xs", faint)}>
        {event.seq}
      </span>
      <span data-figure className="flex w-20 shrink-0 flex-col text-xs text-muted max-sm:hidden">
        {event.processed_at === null || event.processed_at === undefined ? (
          <span title="Saved on arrival; the next event has the time">–</span>
        ) : (
          <Clock at={event.processed_at} />
        )}
        <span className={faint}>{gap === undefined ? "" : `+${duration(gap)}`}</span>
      </span>
      <span className={cx("flex size-6 shrink-0 items-center justify-center rounded-md", TONE_LOOKS[tone])}>
        <Icon className="size-3.5" aria-hidden />
      </span>
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="flex min-w-0 gap-1.5 text-sm leading-5" title={text}>
          <span className={cx("truncate", said === undefined ? "" : "max-w-[60%] shrink-0")}>{text}</span>
          {said !== undefined && (
            <span dir="auto" className="min-w-0 flex-1 truncate text-muted">
              {said}
            </span>
          )}
        </span>
        <span className={cx("truncate text-xs", faint)}>
          {typeof event.processed_at === "string" && (
            <span className="sm:hidden">
              <Clock at={event.processed_at} /> ·{" "}
            </span>
          )}
          <span className="font-mono">{event.type}</span> · {whoOf(event, names)}
        </span>
      </span>
    </div>
  );
});
