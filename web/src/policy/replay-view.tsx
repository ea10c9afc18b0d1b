import { ArrowRight } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { WireReplay } from "../../../src/client/index.ts";
import type { WireReplayLine } from "../../../src/protocol/api/policy.ts";
import { Button } from "../parts/button.tsx";
import { Checkbox } from "../parts/form/checkbox.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { BehaviorPill } from "./modes.tsx";
import { changesIn } from "./replay-changes.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** Rows per page. */
const FIRST = 100;

/** What different rules would have decided. */
export function ReplayView({ replay: { data, skipped } }: { readonly replay: WireReplay }) {
  const [isChangedOnly, setChangedOnly] = useState(true);
  const [count, setCount] = useState(FIRST);
  const changes = changesIn(data);
  const changed = changes.reduce((sum, change) => sum + change.count, 0);
  const rows = isChangedOnly ? data.filter((line) => line.changed) : data;
  return (
    <div className="flex flex-col gap-3">
      <div role="status" className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <p className="font-medium">
          {changed === 0 ? "None" : thousands(changed)} of {thousands(data.length)}{" "}
          {data.length === 1 ? "decision" : "decisions"} would change
        </p>
        {changes.map(({ before, now, count: times }) => (
          <span key={`${before} ${now}`} className="flex items-center gap-1">
            <span data-figure>{times}×</span> <BehaviorPill behavior={before} />
            <ArrowRight className="size-3.5 text-faint" role="img" aria-label="becomes" />
            <BehaviorPill behavior={now} />
          </span>
        ))}
        {skipped > 0 && (
          <p className="text-muted">
            {skipped} {skipped === 1 ? "was" : "were"} skipped: a limit or error decided, or an older version recorded
            too little.
          </p>
        )}
      </div>
      <Checkbox className="self-start text-muted" isOn={isChangedOnly} onChange={setChangedOnly}>
        Only changes
      </Checkbox>
      <Table
        caption="Decisions"
        columns={COLUMNS}
        rows={rows.slice(0, count)}
        rowKey={(line) => line.event_id}
        empty={
          data.length === 0
            ? "No decisions recorded yet. They appear with the first tool calls."
            : "These rules lead to the same decisions."
        }
      />
      {rows.length > count && (
        <Button className="self-center" onClick={() => setCount(count + FIRST)}>
          Show more ({thousands(rows.length - count)} left)
        </Button>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<WireReplayLine>[] = [
  {
    title: "Call",
    cell: ({ tool, about, session_id: session }) => (
      <div className="max-w-96 min-w-40">
        <p className="text-xs text-muted">
          {tool} ·{" "}
          <Link href={`/sessions/${encodeURIComponent(session)}`} className="text-accent underline">
            session …{session.slice(-6)}
          </Link>
        </p>
        <p dir="ltr" className="truncate font-mono text-xs" title={about}>
          {about === "" ? tool : about}
        </p>
      </div>
    ),
  },
  { title: "When", minor: true, cell: ({ at }) => <Ago at={at} /> },
  {
    title: "Before",
    cell: ({ before, decided_by_before: by }) => (
      <div>
        <BehaviorPill behavior={before} />
        <p className="max-w-56 truncate font-mono text-xs text-faint" title={by}>
          {by}
        </p>
      </div>
    ),
  },
  {
    title: "Now",
    cell: ({ now, decided_by: by, reason }) => (
      <div title={reason}>
        <BehaviorPill behavior={now} />
        <p className="max-w-56 truncate font-mono text-xs text-faint">{by}</p>
      </div>
    ),
  },
];
