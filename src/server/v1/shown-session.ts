import type { SessionRecord, SessionSummary } from "../../core/store.ts";
import { sessionView } from "../../protocol/session-view.ts";
import type { ServerDeps } from "../context.ts";
import { agentOf } from "../lookup.ts";

type Deps = Pick<ServerDeps, "runtime" | "registry" | "clock">;

/** `found`: what a list already knows of it. */
export async function shownSession(deps: Deps, record: SessionRecord, found?: SessionSummary) {
  const summary = found ?? (await deps.runtime.summary(record.id));
  return sessionView({
    record,
    state: await deps.runtime.state(record.id),
    agent: await agentOf(deps, record),
    updatedAt: summary?.lastActivityAt ?? record.createdAt,
    now: deps.clock.now(),
  });
}
