import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use } from "react";
import type { WireCaller } from "../../src/client/index.ts";
import { api, CALLER_KEY, isRefused } from "./api.ts";
import { Login } from "./shell/login.tsx";
import { NoServer } from "./shell/no-server.tsx";
import { Loading } from "./parts/loading.tsx";

const CallerContext = createContext<WireCaller | undefined>(undefined);

export const callerQuery = { queryKey: CALLER_KEY, queryFn: () => api.whoami() };

/** Who looks at the page, asked for again now and then: a key may be revoked, a login ends. */
export function CallerGate({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery({
    ...callerQuery,
    // A server that is away is looked for more often.
    refetchInterval: ({ state }) => (state.error === null || isRefused(state.error, 401) ? 30_000 : 2_500),
    refetchOnWindowFocus: true,
  });
  if (isRefused(error, 401)) return <Login wasIn={data !== undefined} />;
  // Whoever is in stays in while the server restarts; the page says by itself what it cannot load.
  if (data === undefined && error !== null) return <NoServer thrown={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading label="Connecting" />;
  return <CallerContext value={data}>{children}</CallerContext>;
}

export function useCaller(): WireCaller {
  const caller = use(CallerContext);
  if (caller === undefined) throw new Error("There is no caller outside of CallerGate.");
  return caller;
}

const ORDER = ["viewer", "operator", "admin"] as const;

/** Whether the caller may do what needs this role. */
export function useMay(role: WireCaller["role"]): boolean {
  return ORDER.indexOf(useCaller().role) >= ORDER.indexOf(role);
}
