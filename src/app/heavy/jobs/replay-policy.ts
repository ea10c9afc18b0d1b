import type { SessionQuery } from "../../../core/ports/store.ts";
import { toLoggedEvent } from "../../../runtime/log/feed.ts";
import { type ReplayRequest, replayRules } from "../../../runtime/policy/policy-replay.ts";
import { openReader } from "../../open-store.ts";
import { requireKnownTools } from "../../check/tool-traits.ts";
import type { HeavyContext } from "../jobs.ts";

/** Returns the answer as JSON: serializing it takes as long as finding it. */
export async function replayPolicy({ home }: HeavyContext, request: ReplayRequest): Promise<Uint8Array> {
  await using store = openReader(home);
  const source = {
    sessions: (query?: SessionQuery) => store.sessions(query),
    read: async (...range: Parameters<typeof store.events>) => (await store.events(...range)).map(toLoggedEvent),
  };
  const { lines: data, skipped } = await replayRules(source, { requireKnownTools }, request);
  return new TextEncoder().encode(JSON.stringify({ data, skipped }));
}
