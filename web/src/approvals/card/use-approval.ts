import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { WireAnswer, WireApproval } from "../../../../src/client/index.ts";
import { api, isRefused, queries } from "../../api.ts";
import { useNow } from "../../parts/figures/figures.tsx";
import { reportCardsMoved } from "./actions.tsx";
import { type ApprovalOutcome, outcomeOf } from "./describe.ts";
import { forgetDraft } from "../drafts.ts";
import { PENDING_KEY, useSeenApprovals } from "../pending.ts";

/** In milliseconds: how often to fetch an approval that is no longer listed but not closed either. */
const LOOKED_EVERY = 2_500;

export interface OpenApproval {
  /** Its current state. */
  readonly approval: WireApproval;
  readonly outcome: ApprovalOutcome;
  readonly isSending: boolean;
  /** Whether the answer came from this page. */
  readonly isMine: boolean;
  /** The last answer sent from this page, whether or not it was saved. */
  readonly sent: WireAnswer["behavior"] | undefined;
  /** What was wrong with an answer; it can be sent again. */
  readonly problem: unknown;
  /** Why it can no longer be answered. */
  readonly closed: unknown;
  readonly send: (answer: WireAnswer) => void;
}

/** One approval, kept up to date while it is shown. */
export function useApproval(given: WireApproval, onAnswered: ((isMine: boolean) => void) | undefined): OpenApproval {
  const { id, session_id: sessionId } = given;
  const { data: pending } = useSeenApprovals();
  const isListed = pending === undefined || pending.some((one) => one.id === id);
  const isOpen = given.status === "pending";
  const key = ["approval", id];
  const { data: seen, error } = useQuery({
    queryKey: key,
    queryFn: () => api.approvals.get(id),
    enabled: isOpen && !isListed,
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? LOOKED_EVERY : false),
  });
  const approval = isOpen && seen !== undefined ? seen : given;
  const now = useNow(1_000);
  const [isSending, setSending] = useState(false);
  const [isMine, setMine] = useState(false);
  const [sent, setSent] = useState<WireAnswer["behavior"]>();
  const [problem, setProblem] = useState<unknown>();
  const [refused, setRefused] = useState<unknown>();

  const give = async (answer: WireAnswer): Promise<void> => {
    setSending(true);
    setSent(answer.behavior);
    setProblem(undefined);
    try {
      const answered = await api.approvals.answer(id, answer);
      // Even if its card is no longer shown.
      forgetDraft(id);
      setMine(true);
      reportCardsMoved();
      queries.setQueryData(key, answered);
      onAnswered?.(true);
    } catch (thrown) {
      if (!isRefused(thrown, 409)) return setProblem(thrown);
      forgetDraft(id);
      setRefused(thrown);
      // Fetches who answered first, and how.
      const first = await api.approvals.get(id).catch(() => undefined);
      if (first !== undefined) {
        queries.setQueryData(key, first);
        onAnswered?.(false);
      }
    } finally {
      setSending(false);
      void queries.invalidateQueries({ queryKey: PENDING_KEY });
      void queries.invalidateQueries({ queryKey: ["session", sessionId] });
    }
  };

  return {
    approval,
    outcome: outcomeOf(approval, { isListed, now }),
    isSending,
    isMine,
    sent,
    problem,
    // It was deleted with its session.
    closed: refused ?? (isRefused(error, 404) ? error : undefined),
    send: (answer) => {
      // Keys work even when the buttons are disabled.
      if (!isSending) void give(answer);
    },
  };
}
