import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { EventRow } from "./event-row.tsx";
import { gapBefore } from "./log/gaps.ts";
import type { LogRows } from "./log/log-reader.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** In pixels. All rows have the same height, so that any position can be scrolled to. */
const ROW = 48;

/** The events of a log; only visible rows are rendered. */
export function EventList({
  log,
  head,
  chosen,
  names,
  onChoose,
  onStep,
}: {
  readonly log: LogRows;
  readonly head: number;
  readonly chosen: number;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (seq: number) => void;
  readonly onStep: (key: string) => boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  // Its functions change with every state of the list, as intended here.
  // oxlint-disable-next-line react/react-compiler
  const virtual = useVirtualizer({
    count: log.count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const rows = virtual.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const last = rows.at(-1)?.index ?? 0;
  const version = log.version();
  useEffect(() => log.show(first, last), [log, version, first, last]);

  // Rows added above must not move the visible ones.
  const { prepended } = log;
  const known = useRef({ log, prepended });
  useLayoutEffect(() => {
    const added = known.current.log === log ? prepended - known.current.prepended : 0;
    known.current = { log, prepended };
    if (added > 0 && box.current !== null) box.current.scrollTop += added * ROW;
  }, [log, prepended]);

  // Scrolls to the selected event when it is selected or first loaded, but not while the person scrolls.
  const shown = useRef<{ readonly log: LogRows; readonly seq: number }>(undefined);
  const index = log.indexOf(chosen);
  useLayoutEffect(() => {
    if (index < 0 || (shown.current?.log === log && shown.current.seq === chosen)) return;
    const isStep = shown.current?.log === log && Math.abs(shown.current.seq - chosen) <= 20;
    shown.current = { log, seq: chosen };
    virtual.scrollToIndex(index, { align: isStep ? "auto" : "center" });
  }, [virtual, log, index, chosen]);

  const current = rows.find((row) => log.event(row.index)?.seq === chosen);
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !onStep(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      {log.problem !== undefined && (
        <div className="p-2">
          <Problem title="Could not load these events" thrown={log.problem} onRetry={() => log.retry()} />
        </div>
      )}
      <div
        ref={box}
        {...(log.count > 0 && { role: "listbox", "aria-label": "Events", tabIndex: 0 })}
        aria-activedescendant={current === undefined ? undefined : `event-${chosen}`}
        onKeyDown={onKey}
        className="relative min-h-0 flex-1 overflow-y-auto outline-offset-[-2px]"
      >
        {log.count === 0 && log.looked === undefined && (
          <p className="p-8 text-center text-sm text-muted">No matching events in this log.</p>
        )}
        <div role="presentation" className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {rows.map((row) => {
            const event = log.event(row.index);
            return (
              // The list handles the keys.
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
              <div
                key={row.key}
                id={event === undefined ? undefined : `event-${event.seq}`}
                role="option"
                aria-selected={event?.seq === chosen}
                aria-posinset={row.index + 1}
                aria-setsize={log.looked === undefined ? log.count : -1}
                aria-label={event === undefined ? "Loading" : undefined}
                onClick={() => event !== undefined && onChoose(event.seq)}
                className="absolute top-0 left-0 w-full"
                style={{ height: ROW, transform: `translateY(${row.start}px)` }}
              >
                {event === undefined ? (
                  <div className="flex h-full items-center border-b border-line px-3 text-xs text-faint">…</div>
                ) : (
                  <EventRow
                    event={event}
                    gap={gapBefore(log, row.index)}
                    names={names}
                    isChosen={event.seq === chosen}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      <Looked log={log} head={head} />
    </div>
  );
}

function figure(of: number): string {
  return thousands(of);
}

/** How much of the log a filter has searched so far. */
function Looked({ log, head }: { readonly log: LogRows; readonly head: number }) {
  const { looked, count } = log;
  if (looked === undefined) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-1.5 text-xs text-muted">
      {figure(count)} found in events {figure(Math.min(looked.after + 1, head))} to {figure(looked.upTo)} of{" "}
      {figure(head)}.
      {looked.isPaused ? (
        <Button small onClick={() => log.lookFurther()}>
          Search further
        </Button>
      ) : (
        " Scroll to search further."
      )}
    </p>
  );
}
