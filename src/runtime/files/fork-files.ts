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
import { placeOf } from "../paths/session-place.ts";

/**
 * A fork of a session that works in place does so too. Any other gets a workspace of its own of the same kind, from the
 * commit that the parent's was made from: its files are the parent's, and what was committed since is not in them.
 */
export async function placeOfFork(
  store: Store,
  { id, environment, cwd, source }: SessionRecord,
  wanted: string | undefined,
): Promise<{ readonly environment: EnvironmentDefinition; readonly source: string }> {
  const { workspace } = environment;
  if (workspace.kind === "in-place") return { environment, source: resolve(wanted ?? cwd) };
  if (wanted !== undefined && resolve(wanted) !== source)
    throw new CapstanError(
      "invalid_input",
      `A fork of a session with a workspace of its own gets one from ${source}, not from ${wanted}. Leave the directory out.`,
    );
  if (workspace.kind === "copy") return { environment, source };
  const base = (await loadState(store, id)).state.files.workspace?.base;
  if (workspace.kind === "clone")
    return { environment: { ...environment, workspace: { ...workspace, ref: base ?? workspace.ref } }, source };
  // The parent has the branch that was named.
  const { branch: _taken, ...unnamed } = workspace;
  return { environment: { ...environment, workspace: { ...unnamed, base: base ?? workspace.base } }, source };
}

/**
 * Brings a fork's own workspace to what the parent's files were at that place of its log. Its start is the parent's: what
 * changed since where the files came from is no change of the session, and applying must not take it back.
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
    await workspace.adopt(commit, placeOf(parent)).catch((thrown: unknown) => {
      throw withoutCheckpoints(parent, thrown);
    });
  const fresh = await workspace.checkpoint(undefined);
  if (fresh !== undefined) await workspace.restore(first.commit, fresh.commit);
  const checkpoints = new Checkpoints({ ...given, ids });
  const start = await checkpoints.take({ reason: "request" });
  await workspace.restore(last.commit, start.commit);
  // So that the log says what the fork has beyond its start.
  await checkpoints.take({ reason: "request" });
}

function withoutCheckpoints({ id }: SessionRecord, cause: unknown): CapstanError {
  return new CapstanError(
    "workspace_failed",
    `The files of session ${id} as they were then cannot be taken over: its checkpoints were removed, or cannot be read. Start a new session instead. (${messageOf(cause)})`,
    { cause, data: { sessionId: id } },
  );
}
