import { WifiOff } from "lucide-react";
import { type ReactNode, useSyncExternalStore } from "react";
import { problemOf } from "../api.ts";
import { useSeenApprovals } from "../approvals/pending.ts";
import { Problem } from "../parts/failure/problem.tsx";
import { isAway, onServerChange } from "../server-watch.ts";
import type { LiveView } from "./live.ts";

/** Says that what is shown may be old, and why. */
export function Connection({
  view,
  problem,
  onRestart,
}: {
  readonly view: LiveView;
  /** Why the session itself could not be asked for. */
  readonly problem: Error | null;
  readonly onRestart: () => void;
}) {
  const away = useSyncExternalStore(onServerChange, isAway);
  const { error } = useSeenApprovals();
  if (view.connection === "ended")
    return (
      <div className="border-b border-line p-3">
        <Problem title="This session is not followed any more" thrown={view.problem} onRetry={onRestart} />
      </div>
    );
  if (view.connection === "retrying")
    return (
      <Bar>
        The connection is lost and is being tried again. Nothing is missed: the page goes on where it was.
        {view.problem !== undefined && ` ${view.problem.message}`}
      </Bar>
    );
  const reason = problem ?? error;
  if (reason !== null) return <Bar>Status, costs and what waits for you may be out of date. {problemOf(reason)}</Bar>;
  // A connection that was cut without a word is noticed last by whoever only listens.
  if (away) return <Bar>The server does not answer. What you see may be old.</Bar>;
  return null;
}

function Bar({ children }: { readonly children: ReactNode }) {
  return (
    <div
      role="status"
      className="flex items-center gap-2 border-b border-line bg-waiting-soft px-4 py-1.5 text-sm text-waiting"
    >
      <WifiOff className="size-4 shrink-0" aria-hidden />
      <span>{children}</span>
    </div>
  );
}
