import type { SessionRecord } from "../../core/ports/store.ts";
import type { ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";

type Deps = Pick<ServerDeps, "runtime">;

/** Makes a session read-only. */
export async function archiveSession(deps: Deps, record: SessionRecord): Promise<SessionRecord> {
  await requireNotRunning(deps, record, "archived");
  return deps.runtime.archive(record.id);
}

/** Erases a session. */
export async function deleteSession(deps: Deps, record: SessionRecord): Promise<void> {
  await requireNotRunning(deps, record, "deleted");
  await deps.runtime.delete(record.id);
}

/** As in the Managed Agents API, a running session must be interrupted first. */
async function requireNotRunning({ runtime }: Deps, { id }: SessionRecord, what: string): Promise<void> {
  const { status } = await runtime.state(id);
  if (status !== "running" && status !== "rescheduling") return;
  throw new ApiFailure(
    "invalid_request_error",
    `Session ${id} is running and cannot be ${what}. Interrupt it first: send a user.interrupt event, or POST /api/sessions/${id}/interrupt.`,
    { details: { error_code: "session_running" } },
  );
}
