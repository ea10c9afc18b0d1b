import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { cx } from "../../parts/cx.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { type StateLine, stateLines } from "./state-lines.ts";

/** Past states never change. */
const FOR_GOOD = { staleTime: Number.POSITIVE_INFINITY } as const;

function useStateAt(id: string, seq: number) {
  return useQuery({
    queryKey: ["session", id, "state", seq],
    queryFn: () => api.sessions.stateAt(id, seq),
    // Keeps the previous state until the next is loaded, so that stepping does not flicker.
    placeholderData: (before) => before,
    ...FOR_GOOD,
  });
}

/** The session's state right after an event, and what the event changed. */
export function StateView({ id, seq }: { readonly id: string; readonly seq: number }) {
  const after = useStateAt(id, seq);
  const before = useStateAt(id, Math.max(0, seq - 1));
  if (after.error !== null)
    return (
      <Problem
        title="Could not load the state"
        thrown={after.error}
        onRetry={() => {
          void after.refetch();
          void before.refetch();
        }}
      />
    );
  if (after.data === undefined) return <Loading label="Loading the state" />;
  const isOld = after.isPlaceholderData || before.isPlaceholderData;
  const lines = stateLines(after.data, isOld ? undefined : before.data);
  return (
    <dl
      aria-busy={isOld}
      className={cx("grid grid-cols-[auto_1fr] gap-x-3 text-sm transition-opacity", isOld && "opacity-60")}
    >
      {lines
        .filter(({ values, was }) => values.length > 0 || was !== undefined)
        .map((line) => (
          <Line key={line.name} line={line} />
        ))}
    </dl>
  );
}

function Line({ line: { name, values, was } }: { readonly line: StateLine }) {
  const isNew = was !== undefined;
  return (
    <div
      data-changed={isNew}
      className={cx("col-span-2 grid grid-cols-subgrid rounded-sm px-1.5 py-0.5", isNew && "bg-accent-soft")}
    >
      <dt className="text-muted">
        {name}
        {isNew && <span className="sr-only">, changed</span>}
      </dt>
      <dd data-figure className="min-w-0 break-words">
        <Values of={values} isStrong={isNew} />
        {isNew && <span className="block text-xs text-muted">was {was.length === 0 ? "nothing" : was.join("; ")}</span>}
      </dd>
    </div>
  );
}

function Values({ of, isStrong }: { readonly of: readonly string[]; readonly isStrong: boolean }) {
  if (of.length === 0) return <span className="font-medium">none</span>;
  return of.map((value, index) => (
    // Two open calls of one tool have the same text.
    // oxlint-disable-next-line react/no-array-index-key
    <span key={index} dir="auto" className={cx("block", isStrong && "font-medium")}>
      {value}
    </span>
  ));
}
