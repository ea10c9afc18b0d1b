import type { SessionRecord, SessionSummary } from "../../core/ports/store.ts";
import { sessionView } from "../../protocol/v1/session-view.ts";
import type { ServerDeps } from "../http/context.ts";
import { agentOf } from "../http/lookup.ts";

type Deps = Pick<ServerDeps, "runtime" | "registry" | "clock">;

/** `found`: what a list already knows about the session. */
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
