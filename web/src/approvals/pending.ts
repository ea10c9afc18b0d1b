import { useQuery } from "@tanstack/react-query";
import type { WireApproval } from "../../../src/client/index.ts";
import { api } from "../api.ts";

export const PENDING_KEY = ["approvals", "pending"] as const;
/** In milliseconds. Also while the page is in the background: its title and its notifications tell what waits. */
const ASKED_EVERY = 2_500;
const NONE: readonly WireApproval[] = [];

/** What waits for a person in this project, oldest first. */
export function usePendingApprovals(): readonly WireApproval[] {
  const { data = NONE } = useQuery({
    queryKey: PENDING_KEY,
    queryFn: () => api.approvals.list({ status: "pending" }),
    refetchInterval: ASKED_EVERY,
    refetchIntervalInBackground: true,
  });
  return data;
}

/** The same as it was last seen, without asking for it once more. Undefined before the first answer. */
export function useSeenApprovals() {
  return useQuery({
    queryKey: PENDING_KEY,
    queryFn: () => api.approvals.list({ status: "pending" }),
    enabled: false,
  });
}
