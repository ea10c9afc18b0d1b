import { resolve } from "node:path";
import { checkpointsIn, currentCheckpoint } from "../../core/session/checkpoint-list.ts";
import type { Ids } from "../../core/ports/clock.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SessionRecord, Store } from "../../core/ports/store.ts";
import type { Workspace } from "../../core/ports/workspace.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type SessionLog } from "../log/session-log.ts";
import { loadState } from "../log/stored-state.ts";
import { workspaceLocation } from "../paths/session-location.ts";

/**
 * A fork of an in-place session also works in place. Any other fork gets its own workspace of the same kind, created
 * from the same commit as the parent's: it has the parent's files, without later commits.
 */
export async function forkLocation(
  store: Store,
  { id, environment, cwd, source }: SessionRecord,
  wanted: string | undefined,
): Promise<{ readonly environment: EnvironmentDefinition; readonly source: string }> {
  const { workspace } = environment;
  if (workspace.kind === "in-place") return { environment, source: resolve(wanted ?? cwd) };
  if (wanted !== undefined && resolve(wanted) !== source)
    throw new CapstanError(
      "invalid_input",
      `A fork gets its workspace from ${source}, like its parent, and not from ${wanted}. Omit the directory.`,
    );
  if (workspace.kind === "copy") return { environment, source };
  const base = (await loadState(store, id)).state.files.workspace?.base;
  if (workspace.kind === "clone")
    return { environment: { ...environment, workspace: { ...workspace, ref: base ?? workspace.ref } }, source };
  // The parent's workspace uses the named branch.
  const { branch: _taken, ...unnamed } = workspace;
  return { environment: { ...environment, workspace: { ...unnamed, base: base ?? workspace.base } }, source };
}

/**
 * Restores the parent's files, as of that log position, in the fork's own workspace. The fork shares the parent's
 * start: differences between the start and the source are not the session's changes, and apply must not revert them.
 */
export async function copyFiles(
  { store, ids }: { readonly store: Store; readonly ids: Ids },
  given: {
    readonly parent: SessionRecord;
    readonly upTo: number;
    readonly record: SessionRecord;
    readonly log: SessionLog;
    readonly workspace: Workspace;
  },
): Promise<void> {
  const { parent, upTo, workspace } = given;
  if (parent.environment.workspace.kind === "in-place") return;
  const events = await store.events(parent.id, { upTo });
  const [first] = checkpointsIn(events);
  const last = currentCheckpoint(events);
  if (first === undefined || last === undefined) return;
  for (const { commit } of [first, last])
    await workspace.adopt(commit, workspaceLocation(parent)).catch((thrown: unknown) => {
      throw withoutCheckpoints(parent, thrown);
    });
  const fresh = await workspace.checkpoint(undefined);
  if (fresh !== undefined) await workspace.restore(first.commit, fresh.commit);
  const checkpoints = new Checkpoints({ ...given, ids });
  const start = await checkpoints.take({ reason: "request" });
  await workspace.restore(last.commit, start.commit);
  // Record in the log how the fork differs from its start.
  await checkpoints.take({ reason: "request" });
}

function withoutCheckpoints({ id }: SessionRecord, cause: unknown): CapstanError {
  return new CapstanError(
    "workspace_failed",
    `The files of session ${id} from that point cannot be restored: its checkpoints were removed or cannot be read. Start a new session instead. (${messageOf(cause)})`,
    { cause, data: { sessionId: id } },
  );
}
