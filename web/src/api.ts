import { QueryClient } from "@tanstack/react-query";
import { CapstanApiError, createClient } from "../../src/client/index.ts";
import { isAway, onServerChange, onUnknown, watchedFetch } from "./server-watch.ts";

/** The server that served the page. The login's cookie identifies the caller. */
export const api = createClient({ baseUrl: location.origin, fetch: watchedFetch });

/** In milliseconds: the maximum delay before an automatic retry. */
const LONGEST_WAIT = 30_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Only transient failures are retried.
      retry: (failures, thrown) => failures < 2 && thrown instanceof CapstanApiError && thrown.isPassing,
      retryDelay: (failures, thrown) => Math.min(Math.max(waitOf(thrown) * 1_000, 1_000 * 2 ** failures), LONGEST_WAIT),
      staleTime: 2_000,
      // The server may be on this machine, so it may be reachable while the browser is offline.
      networkMode: "always",
    },
  },
});

/** In seconds: the server's Retry-After. */
function waitOf(thrown: unknown): number {
  return thrown instanceof CapstanApiError ? (thrown.retryAfter ?? 0) : 0;
}

export const CALLER_KEY = ["caller"];

// Any request that finds the login expired shows the login page at once.
onUnknown(() => {
  const { status, error } = queries.getQueryState(CALLER_KEY) ?? {};
  if (status === "error" && isRefused(error, 401)) return;
  void queries.invalidateQueries({ queryKey: CALLER_KEY }, { cancelRefetch: false });
});

// Refetch failed queries when the server is back.
onServerChange(() => {
  if (!isAway()) void queries.refetchQueries({ type: "active", predicate: ({ state }) => state.error !== null });
});

export function isRefused(thrown: unknown, status: number): thrown is CapstanApiError {
  return thrown instanceof CapstanApiError && thrown.status === status;
}

/** Whether the outcome of a request is unknown: only the response may have been lost. */
export function isUnanswered(thrown: unknown): thrown is CapstanApiError {
  return thrown instanceof CapstanApiError && (thrown.status === 0 || thrown.status >= 500);
}

export function problemOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
