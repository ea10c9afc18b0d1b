import { cx } from "../parts/cx.ts";
import { Select } from "../parts/form/field.tsx";
import { GROUP_ICONS } from "./event-row.tsx";
import { type Group, GROUP_NAMES, GROUPS } from "./groups.ts";
import type { Filter } from "./log/use-log.ts";

const ALL = "all";
const MAIN = "main";

/** Filters the log by kind of event and by thread. */
export function FilterBar({
  filter,
  names,
  onChange,
}: {
  readonly filter: Filter;
  readonly names: ReadonlyMap<string, string>;
  readonly onChange: (filter: Filter) => void;
}) {
  const { groups, thread } = filter;
  const toggle = (group: Group): void => {
    const changed = new Set(groups);
    if (!changed.delete(group)) changed.add(group);
    onChange({ ...filter, groups: changed });
  };
  return (
    <div className="flex min-w-0 items-center justify-between gap-2">
      <div role="group" aria-label="Event kinds" className="flex min-w-0 gap-1 overflow-x-auto p-0.5">
        {GROUPS.map((group) => {
          const Icon = GROUP_ICONS[group];
          const isOn = groups.has(group);
          return (
            <button
              key={group}
              type="button"
              aria-pressed={isOn}
              onClick={() => toggle(group)}
              className={cx(
                "inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-xs font-medium transition-colors",
                isOn
                  ? "border-accent bg-accent-soft text-accent"
                  : "border-line bg-surface text-muted hover:border-line-strong hover:text-text",
              )}
            >
              <Icon className="size-3.5" aria-hidden />
              {GROUP_NAMES[group]}
            </button>
          );
        })}
      </div>
      {names.size > 0 && (
        <div className="w-36 shrink-0 sm:w-56">
          <Select
            aria-label="Thread"
            value={thread === undefined ? ALL : thread === null ? MAIN : `thread ${thread}`}
            onChange={({ target: { value } }) =>
              onChange({
                ...filter,
                thread: value === ALL ? undefined : value === MAIN ? null : value.slice("thread ".length),
              })
            }
          >
            <option value={ALL}>All threads</option>
            <option value={MAIN}>Main thread</option>
            {[...names].map(([id, name]) => (
              <option key={id} value={`thread ${id}`}>
                {name}
              </option>
            ))}
          </Select>
        </div>
      )}
    </div>
  );
}
