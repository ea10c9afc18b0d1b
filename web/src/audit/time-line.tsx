import { useMemo, useState } from "react";
import type { WireSessionWithState } from "../../../src/client/index.ts";
import { Key } from "../parts/button.tsx";
import { cx } from "../parts/cx.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { EventDetail } from "./event-detail.tsx";
import { EventList } from "./event-list.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type Group, threadNames } from "./groups.ts";
import { useChosen } from "./use-chosen.ts";
import { type Filter, useLog, useSettled } from "./log/use-log.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** In milliseconds: a held key does not stop at every event. */
const SETTLE_MS = 80;
const SOME = 10;

/** All events of a session, the selected event, and the state after it. */
export function TimeLine({ session }: { readonly session: WireSessionWithState }) {
  const { id, head, state } = session;
  const [seq, choose] = useChosen(head);
  const [filter, setFilter] = useState<Filter>({ groups: new Set<Group>(), thread: undefined });
  const log = useLog(id, head, filter, seq);
  const settled = useSettled(seq, SETTLE_MS);
  // On a narrow screen the event covers the list. A link to an event opens it.
  const [isOpen, setOpen] = useState(() => new URLSearchParams(location.search).has("seq"));
  const names = useMemo(() => threadNames(state.threads), [state.threads]);
  const goTo = (chosen: number): void => {
    log.seek(chosen);
    choose(chosen);
  };
  const chooseNext = async (found: Promise<number | undefined>): Promise<void> => {
    const next = await found;
    if (next !== undefined) choose(next);
  };
  const step = (direction: 1 | -1): void => void chooseNext(log.next(seq, direction));
  const toEdge = (direction: 1 | -1): void => void chooseNext(log.edge(direction));
  const leap = (by: number): void => goTo(Math.max(1, Math.min(head, seq + by)));
  const keys: Readonly<Record<string, () => void>> = {
    j: () => step(1),
    k: () => step(-1),
    Home: () => toEdge(-1),
    End: () => toEdge(1),
  };
  const inList: Readonly<Record<string, () => void>> = {
    ...keys,
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    PageDown: () => leap(SOME),
    PageUp: () => leap(-SOME),
    Enter: () => setOpen(true),
  };
  useShortcuts({ ...keys, ...(isOpen && { Escape: () => setOpen(false) }) });
  return (
    <>
      <div className="flex flex-col gap-1 border-b border-line px-3 py-1.5 sm:px-4">
        <FilterBar filter={filter} names={names} onChange={setFilter} />
        <div className="flex items-center gap-3 text-xs text-muted">
          <input
            type="range"
            aria-label="Position in the log"
            aria-valuetext={`Event ${seq} of ${head}`}
            min={1}
            max={head}
            value={seq}
            onChange={({ target }) => goTo(target.valueAsNumber)}
            className="h-5 min-w-0 flex-1 accent-accent"
          />
          <span data-figure className="shrink-0">
            {thousands(seq)} / {thousands(head)}
          </span>
          <span className="flex shrink-0 items-center gap-1 text-text max-lg:hidden">
            <Key>j</Key>
            <Key>k</Key> step
            <Key>Home</Key>
            <Key>End</Key>
          </span>
        </div>
      </div>
      <div className="relative flex min-h-0 flex-1">
        <EventList
          log={log}
          head={head}
          chosen={seq}
          names={names}
          onChoose={(chosen) => {
            choose(chosen);
            setOpen(true);
          }}
          onStep={(key) => {
            const act = inList[key];
            act?.();
            return act !== undefined;
          }}
        />
        <aside
          aria-label="Event"
          className={cx(
            "flex min-h-0 min-w-0 flex-col border-line bg-surface lg:w-[26rem] lg:border-l xl:w-[30rem]",
            isOpen ? "max-lg:absolute max-lg:inset-0 max-lg:z-10" : "max-lg:hidden",
          )}
        >
          <EventDetail id={id} seq={settled} head={head} names={names} onStep={step} onClose={() => setOpen(false)} />
        </aside>
      </div>
    </>
  );
}
