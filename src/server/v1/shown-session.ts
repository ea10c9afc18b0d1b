import type { SessionState } from "../../core/state.ts";
import type { SessionRecord, SessionSummary } from "../../core/store.ts";
import { sessionView } from "../../protocol/session-view.ts";
import type { ServerDeps } from "../context.ts";
import { ApiFailure } from "../failure.ts";
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

/** As the API has it: what works must be interrupted before it is put away. */
export function requireNotRunning({ id }: SessionRecord, { status }: SessionState, what: string): void {
  if (status !== "running" && status !== "rescheduling") return;
  throw new ApiFailure(
    "invalid_request_error",
    `Session ${id} is running and cannot be ${what}. Send it a user.interrupt event first.`,
    { details: { error_code: "session_running" } },
  );
}
