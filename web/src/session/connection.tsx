import { WifiOff } from "lucide-react";
import { type ReactNode, useSyncExternalStore } from "react";
import { problemOf } from "../api.ts";
import { useSeenApprovals } from "../approvals/pending.ts";
import { Problem } from "../parts/failure/problem.tsx";
import { isAway, onServerChange } from "../server-watch.ts";
import type { LiveView } from "./live-session.ts";

/** Warns that the page may be out of date, and why. */
export function Connection({
  view,
  problem,
  onRestart,
}: {
  readonly view: LiveView;
  /** Why the session could not be loaded. */
  readonly problem: Error | null;
  readonly onRestart: () => void;
}) {
  const away = useSyncExternalStore(onServerChange, isAway);
  const { error } = useSeenApprovals();
  if (view.connection === "ended")
    return (
      <div className="border-b border-line p-3">
        <Problem title="Live updates for this session have stopped" thrown={view.problem} onRetry={onRestart} />
      </div>
    );
  if (view.connection === "retrying")
    return (
      <Bar>
        Connection lost, reconnecting… Nothing will be missed.
        {view.problem !== undefined && ` ${view.problem.message}`}
      </Bar>
    );
  const reason = problem ?? error;
  if (reason !== null) return <Bar>Status, costs and approvals may be out of date. {problemOf(reason)}</Bar>;
  // A stream notices a silently dropped connection last.
  if (away) return <Bar>The server is not responding. This page may be out of date.</Bar>;
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
