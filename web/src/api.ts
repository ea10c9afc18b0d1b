import { QueryClient } from "@tanstack/react-query";
import { CapstanApiError, createClient } from "../../src/client/index.ts";
import { isAway, onServerChange, onUnknown, watchedFetch } from "./server-watch.ts";

/** The server that the page came from. A login's cookie says who calls. */
export const api = createClient({ baseUrl: location.origin, fetch: watchedFetch });

/** In milliseconds: the longest that a page waits before it asks again by itself. */
const LONGEST_WAIT = 30_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one; only what may pass by itself is asked again.
      retry: (failures, thrown) => failures < 2 && thrown instanceof CapstanApiError && thrown.isPassing,
      retryDelay: (failures, thrown) => Math.min(Math.max(waitOf(thrown) * 1_000, 1_000 * 2 ** failures), LONGEST_WAIT),
      staleTime: 2_000,
      // The server may be on this very machine: a browser that is offline can ask it all the same.
      networkMode: "always",
    },
  },
});

/** In seconds: how long the server wants to be left alone. */
function waitOf(thrown: unknown): number {
  return thrown instanceof CapstanApiError ? (thrown.retryAfter ?? 0) : 0;
}

export const CALLER_KEY = ["caller"];

// Whatever asked: who has been logged out is told at once.
onUnknown(() => {
  const { status, error } = queries.getQueryState(CALLER_KEY) ?? {};
  if (status === "error" && isRefused(error, 401)) return;
  void queries.invalidateQueries({ queryKey: CALLER_KEY }, { cancelRefetch: false });
});

// What could not be loaded while the server was away is loaded when it is back.
onServerChange(() => {
  if (!isAway()) void queries.refetchQueries({ type: "active", predicate: ({ state }) => state.error !== null });
});

export function isRefused(thrown: unknown, status: number): thrown is CapstanApiError {
  return thrown instanceof CapstanApiError && thrown.status === status;
}

/** Whether nobody says what became of what was asked for: only the answer may have been lost. */
export function isUnanswered(thrown: unknown): thrown is CapstanApiError {
  return thrown instanceof CapstanApiError && (thrown.status === 0 || thrown.status >= 500);
}

export function problemOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
