import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { LoggedEvent, WireSessionWithState } from "../../../src/client/index.ts";
import { api, isRefused, queries } from "../api.ts";
import { PENDING_KEY } from "../approvals/pending.ts";
import { LiveSession, type LiveView } from "./live-session.ts";

/** Events after which the session must be fetched again. */
const CHANGES =
  /^(session\.(status|thread|updated|usage)|capstan\.(mode|model|budget|checkpoint|rewound|workspace|session_archived))/;
const ASKS =
  /^(capstan\.(approval_requested|permission_decided|elicitation_settled)|user\.(tool_confirmation|custom_tool_result))$/;
/** In milliseconds: how long changes are collected before fetching again. */
const COLLECT_MS = 150;

/** In milliseconds. The stream does not report that the session was deleted. */
const LOOKED_EVERY = 5_000;

export function useSessionQuery(id: string): UseQueryResult<WireSessionWithState> {
  return useQuery({
    queryKey: ["session", id],
    queryFn: () => api.sessions.get(id),
    refetchInterval: ({ state }) => (isRefused(state.error, 404) ? false : LOOKED_EVERY),
  });
}

/** Follows a session while the page is open. */
export function useLiveSession(id: string): {
  readonly live: LiveSession;
  readonly view: LiveView;
  readonly restart: () => void;
} {
  const [attempt, setAttempt] = useState(0);
  // oxlint-disable-next-line react/exhaustive-deps -- a new attempt is a new follower
  const live = useMemo(() => new LiveSession(id), [id, attempt]);
  useEffect(() => {
    const life = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    // One request at a time: each would cancel the previous one, and on a slow server none would finish.
    const refresh = async (): Promise<void> => {
      isOld = false;
      await queries.invalidateQueries({ queryKey: ["session", id], exact: true });
      timer = undefined;
      if (isOld && !life.signal.aborted) later();
    };
    let isOld = false;
    const later = (): void => {
      isOld = timer !== undefined;
      timer ??= setTimeout(() => void refresh(), COLLECT_MS);
    };
    const onEvent = ({ type }: LoggedEvent): void => {
      if (ASKS.test(type)) void queries.invalidateQueries({ queryKey: PENDING_KEY });
      if (CHANGES.test(type)) later();
    };
    void live.run(onEvent, life.signal);
    return () => {
      clearTimeout(timer);
      life.abort();
    };
  }, [live, id]);
  return {
    live,
    view: useSyncExternalStore(live.subscribe, live.view),
    restart: () => setAttempt(attempt + 1),
  };
}
