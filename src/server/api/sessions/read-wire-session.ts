import { withoutSecrets } from "../../../core/session/redaction-session.ts";
import type { SessionRecord, SessionSummary } from "../../../core/ports/store.ts";
import { stateToWire, type WireSessionWithState } from "../../../protocol/api/session-state.ts";
import { sessionToWire, type WireSession } from "../../../protocol/api/sessions.ts";
import { notFound } from "../../http/lookup.ts";
import type { ApiDeps } from "../deps.ts";

type Deps = Pick<ApiDeps, "runtime" | "clock">;

/** The number of pending approvals in each session of a project. */
async function waitingIn({ runtime, clock }: Deps, project: string): Promise<(sessionId: string) => number> {
  const now = clock.now();
  const pending = (await runtime.approvals.list({ status: "pending", project })).filter(
    ({ expiresAt }) => expiresAt === null || expiresAt > now,
  );
  return (id) => pending.filter(({ sessionId }) => sessionId === id).length;
}

export async function wireSessions(
  deps: Deps,
  project: string,
  sessions: readonly SessionSummary[],
): Promise<WireSession[]> {
  const waiting = await waitingIn(deps, project);
  return sessions.map((one) => sessionToWire(withoutSecrets(one), waiting(one.id)));
}

export async function readWireSession(
  deps: Deps,
  { id, project }: Pick<SessionRecord, "id" | "project">,
): Promise<WireSessionWithState> {
  const summary = await deps.runtime.summary(id);
  const [shown] = summary === undefined ? [] : await wireSessions(deps, project, [summary]);
  // The session was just deleted.
  if (shown === undefined) throw notFound("session", id);
  // Read the head first: followers from there also get what is appended meanwhile.
  const head = await deps.runtime.head(id);
  return { ...shown, head, state: stateToWire(await deps.runtime.state(id)) };
}
