import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { api } from "../api.ts";
import { Empty } from "../parts/empty.tsx";
import { useNow } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Answered } from "./given-answer.tsx";
import { outcomeOf } from "./card/describe.ts";
import { byAnswer } from "./inbox.ts";
import { SessionName } from "./session-name.tsx";
import { escapeHidden } from "../../../src/words/hidden-text.ts";

/** The newest ones only; the audit log has all of them. */
const SHOWN = 50;

/** Recent answers: who answered, and how. */
export function AnsweredList() {
  const now = useNow(60_000);
  const { data, error, refetch } = useQuery({
    queryKey: ["approvals", "answered"],
    queryFn: async () => {
      const [answered, settled] = await Promise.all([
        api.approvals.list({ status: "answered" }),
        api.approvals.list({ status: "settled", limit: SHOWN }),
      ]);
      return byAnswer([...answered, ...settled]);
    },
    refetchInterval: 10_000,
  });
  if (data === undefined)
    return error === null ? <Loading /> : <Problem thrown={error} onRetry={() => void refetch()} />;
  if (data.length === 0)
    return (
      <Empty icon={<History />} title="No answers yet">
        This list will show who allowed or denied what, and when.
      </Empty>
    );
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
      {data.map((approval) => (
        <li key={approval.id} className="flex flex-col gap-1 px-3 py-2.5 sm:px-4">
          <SessionName approval={approval} />
          <p dir="auto" className="[overflow-wrap:anywhere]">
            {escapeHidden(approval.request.title)}
          </p>
          <Answered approval={approval} outcome={outcomeOf(approval, { isListed: false, now })} />
        </li>
      ))}
    </ul>
  );
}
