import { resolve } from "node:path";
import { currentCheckpoint } from "../core/checkpoint-list.ts";
import type { Ids } from "../core/clock.ts";
import type { EnvironmentDefinition } from "../core/environment.ts";
import { CapstanError } from "../core/errors.ts";
import type { SessionRecord, Store } from "../core/store.ts";
import type { Workspace } from "../core/workspace.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { SessionLog } from "./session-log.ts";
import { placeOf } from "./session-place.ts";

/** A fork of a session that works in place does so too. Any other gets a workspace of its own of the same kind. */
export function placeOfFork(
  { environment, cwd, source }: SessionRecord,
  wanted: string | undefined,
): { readonly environment: EnvironmentDefinition; readonly source: string } {
  const { workspace } = environment;
  if (workspace.kind === "in-place") return { environment, source: resolve(wanted ?? cwd) };
  if (wanted !== undefined && resolve(wanted) !== source)
    throw new CapstanError(
      "invalid_input",
      `A fork of a session with a workspace of its own gets one from ${source}, not from ${wanted}. Leave the directory out.`,
    );
  // The parent has the branch that was named.
  if (workspace.kind !== "worktree") return { environment, source };
  const { branch: _taken, ...unnamed } = workspace;
  return { environment: { ...environment, workspace: unnamed }, source };
}

/** Brings a fork's own workspace to what the parent's files were at that place of its log. */
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
  const last = currentCheckpoint(await store.events(parent.id, { upTo }));
  if (last === undefined) return;
  const checkpoints = new Checkpoints({ ...given, ids });
  const start = await checkpoints.take({ reason: "request" });
  await workspace.adopt(last.commit, placeOf(parent));
  await workspace.restore(last.commit, start.commit);
}
