import { useQuery } from "@tanstack/react-query";
import type { WireApproval } from "../../../src/client/index.ts";
import { api } from "../api.ts";

export const PENDING_KEY = ["approvals", "pending"] as const;
/** In milliseconds. Also in the background: the page title and notifications depend on it. */
const ASKED_EVERY = 2_500;
const NONE: readonly WireApproval[] = [];

/** Pending approvals of this project, oldest first. */
export function usePendingApprovals(): readonly WireApproval[] {
  const { data = NONE } = useQuery({
    queryKey: PENDING_KEY,
    queryFn: () => api.approvals.list({ status: "pending" }),
    refetchInterval: ASKED_EVERY,
    refetchIntervalInBackground: true,
  });
  return data;
}

/** The last known list, without another request. Undefined until the first response. */
export function useSeenApprovals() {
  return useQuery({
    queryKey: PENDING_KEY,
    queryFn: () => api.approvals.list({ status: "pending" }),
    enabled: false,
  });
}
