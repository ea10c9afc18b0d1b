import type { SessionQuery, SessionSummary } from "../../../core/ports/store.ts";
import { openReader } from "../../open-store.ts";
import type { HeavyContext } from "../jobs.ts";

/** Returns the sessions that match a query; with `named`, those whose ids begin or end with it. */
export async function findSessions(
  { home }: HeavyContext,
  {
    query,
    named,
    limit,
  }: { readonly query: SessionQuery; readonly named?: string | undefined; readonly limit: number },
): Promise<readonly SessionSummary[]> {
  await using store = openReader(home);
  if (named === undefined) return store.sessions({ ...query, limit });
  const found = await store.sessions(query);
  return found.filter(({ id }) => id.startsWith(named) || id.endsWith(named)).slice(0, limit);
}
