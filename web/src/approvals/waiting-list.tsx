import { Inbox, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { WireApproval } from "../../../src/client/index.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { useShortcuts } from "../shell/shortcuts.ts";
import { ApprovalCard } from "./card/approval-card.tsx";
import { besides, shownIn } from "./inbox.ts";
import { useSeenApprovals } from "./pending.ts";
import { SessionName } from "./session-name.tsx";

/** Pending approvals, oldest first. Answered ones stay until dismissed. */
export function WaitingList() {
  const { data: pending, error, refetch } = useSeenApprovals();
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const wanted = search.get("open") ?? undefined;
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());
  const [kept, setKept] = useState<readonly WireApproval[]>([]);
  const [chosen, setChosen] = useState<string>();
  const list = useRef<HTMLUListElement>(null);
  const shown = shownIn(kept, pending ?? [], dismissed);
  if (shown !== kept) setKept(shown);
  const ids = shown.map(({ id }) => id);
  const current = [chosen, wanted, ids[0]].find((id) => id !== undefined && ids.includes(id));

  const itemOf = (id: string): HTMLElement | null | undefined =>
    list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
  const lookAt = (id: string | undefined): void => {
    const item = id === undefined ? undefined : itemOf(id);
    item?.focus({ preventScroll: true });
    item?.scrollIntoView({ block: "nearest" });
  };
  // The focused button disappears. If the person has moved on before the server answered, neither the focus nor the scroll position changes.
  const stayAt = (id: string): void => {
    const { activeElement: active, body } = document;
    const item = itemOf(id);
    if (item?.contains(active) === true) lookAt(id);
    else if (active === null || active === body) item?.focus({ preventScroll: true });
  };
  const move = (step: 1 | -1): void => {
    const next = besides(ids, current, step);
    setChosen(next);
    lookAt(next);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const approval = shown.find(({ id }) => id === current);
      if (approval !== undefined) navigate(`/sessions/${approval.session_id}`);
    },
  });
  const isWantedShown = wanted !== undefined && ids.includes(wanted);
  useEffect(() => {
    if (!isWantedShown) return;
    setChosen(wanted);
    lookAt(wanted);
  }, [wanted, isWantedShown]);

  if (pending === undefined)
    return error === null ? <Loading /> : <Problem thrown={error} onRetry={() => void refetch()} />;
  const isOver = (id: string): boolean => !pending.some((one) => one.id === id);
  const over = ids.filter(isOver);
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <Problem title="This may be out of date" thrown={error} onRetry={() => void refetch()} />}
      {over.length > 1 && (
        <Button
          small
          look="quiet"
          className="w-fit max-md:h-10"
          onClick={() => setDismissed(new Set([...dismissed, ...over]))}
        >
          Dismiss {over.length} answered
        </Button>
      )}
      {shown.length === 0 ? (
        <Empty icon={<Inbox />} title="Nothing needs your approval">
          Approval requests, questions and plans from agents will appear here.
        </Empty>
      ) : (
        <ul ref={list} className="flex flex-col gap-5">
          {shown.map((approval) => (
            <li
              key={approval.id}
              data-item={approval.id}
              tabIndex={-1}
              className="flex scroll-m-4 flex-col gap-1 rounded-lg outline-offset-4"
              onFocus={() => setChosen(approval.id)}
              onPointerDown={() => setChosen(approval.id)}
            >
              <div className="flex items-center justify-between gap-2">
                <SessionName approval={approval} />
                {isOver(approval.id) && (
                  <Button
                    small
                    look="quiet"
                    className="max-md:h-10"
                    icon={<X className="size-3.5" aria-hidden />}
                    onClick={() => setDismissed(new Set([...dismissed, approval.id]))}
                  >
                    Dismiss
                  </Button>
                )}
              </div>
              <ApprovalCard
                approval={approval}
                isCurrent={approval.id === current}
                onAnswered={() => stayAt(approval.id)}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
