import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use } from "react";
import type { WireCaller } from "../../src/client/index.ts";
import { api, CALLER_KEY, isRefused } from "./api.ts";
import { Login } from "./shell/login.tsx";
import { NoServer } from "./shell/no-server.tsx";
import { Loading } from "./parts/loading.tsx";

const CallerContext = createContext<WireCaller | undefined>(undefined);

export const callerQuery = { queryKey: CALLER_KEY, queryFn: () => api.whoami() };

/** The logged-in caller, refreshed now and then: keys are revoked and logins expire. */
export function CallerGate({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery({
    ...callerQuery,
    // Poll faster while the server is away.
    refetchInterval: ({ state }) => (state.error === null || isRefused(state.error, 401) ? 30_000 : 2_500),
    refetchOnWindowFocus: true,
  });
  if (isRefused(error, 401)) return <Login wasIn={data !== undefined} />;
  // Stay logged in while the server restarts; the page itself reports what it cannot load.
  if (data === undefined && error !== null) return <NoServer thrown={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading label="Connecting" />;
  return <CallerContext value={data}>{children}</CallerContext>;
}

export function useCaller(): WireCaller {
  const caller = use(CallerContext);
  if (caller === undefined) throw new Error("useCaller must be used inside CallerGate.");
  return caller;
}

const ORDER = ["viewer", "operator", "admin"] as const;

/** Whether the caller may do what needs this role. */
export function useMay(role: WireCaller["role"]): boolean {
  return ORDER.indexOf(useCaller().role) >= ORDER.indexOf(role);
}
