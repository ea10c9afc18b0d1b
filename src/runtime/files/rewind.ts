import type { Ids } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { CheckpointRef, FilesState } from "../../core/session/state-files.ts";
import { REWIND_NOTE } from "../../core/text/text.ts";
import type { OwnStep, Workspace } from "../../core/ports/workspace.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { SessionLog } from "../log/session-log.ts";
import { requireOwnPlace } from "../paths/session-place.ts";

/** A session whose files nobody else touches. */
export interface RestingFiles {
  readonly record: SessionRecord;
  readonly log: SessionLog;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints;
}

export interface RewindGoal {
  readonly target: CheckpointRef;
  /** What the session did since, when others work on the files too: only that is taken back. Default: everything. */
  readonly steps?: readonly OwnStep[] | undefined;
  /** Also take back files that someone else has changed since. */
  readonly overwrite: boolean;
  /** The conversation goes back to this place in the log. */
  readonly toSeq: number | undefined;
}

/** Brings the files to a checkpoint, and the conversation to a place in the log when one is given. Gives the way back. */
export async function rewindTo(
  resting: RestingFiles,
  { target, steps, overwrite, toSeq }: RewindGoal,
): Promise<CheckpointRef> {
  const { log, ids, checkpoints, workspace } = resting;
  const undo = await checkpoints.take({ reason: "rewind" });
  const goal =
    steps === undefined ? { commit: target.commit, conflicts: [] } : await workspace.takenBack(steps, undo.commit);
  if (goal.conflicts.length > 0 && !overwrite) throw changedByOthers(goal.conflicts);
  await log.append([
    {
      type: "capstan.rewind_started",
      rewind_id: ids.next("rwnd"),
      checkpoint_id: target.id,
      commit: goal.commit,
      undo_checkpoint_id: undo.id,
      undo_commit: undo.commit,
      ...(toSeq !== undefined && { to_seq: toSeq }),
    },
  ]);
  await finishRewind(resting, { isNew: true });
  return undo;
}

/**
 * Finishes a rewind that was begun, perhaps by a host that died in it. Nothing happens when there is none. When it rejects
 * and the log still speaks of the rewind, it was not tried; else it is given up.
 */
export async function finishRewind(
  { log, record, workspace, checkpoints }: Omit<RestingFiles, "ids">,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<void> {
  const { rewinding, last } = log.state.files;
  if (rewinding === undefined) return;
  requireOwnPlace(record);
  const { rewind_id, checkpoint_id, commit, undo_checkpoint_id, undo_commit, to_seq } = rewinding;
  const isShared = record.environment.workspace.kind === "in-place";
  try {
    if (!isNew && !isShared) await refuseForeign(workspace, { undo: last?.commit ?? commit, target: commit });
    // After a crash the files are half-way: what is there now is what they are brought from.
    const now = await checkpoints.take({ reason: "rewind" });
    const rest = { undo: undo_commit, target: commit, now: now.commit };
    await workspace.restore(isNew || !isShared ? commit : await goalAfterCrash(workspace, rest), now.commit);
  } catch (thrown) {
    await log.append([{ type: "capstan.rewind_failed", rewind_id, reason: messageOf(thrown) }]);
    throw thrown;
  }
  checkpoints.restored({ id: checkpoint_id, commit });
  await log.append([
    {
      type: "capstan.rewound",
      rewind_id,
      checkpoint_id,
      undo_checkpoint_id,
      ...(to_seq !== undefined && { to_seq }),
    },
  ]);
}

/** What others changed elsewhere since the crash stays; files of the rewind that they changed stop it. */
async function goalAfterCrash(
  workspace: Workspace,
  { undo, target, now }: { readonly undo: string; readonly target: string; readonly now: string },
): Promise<string> {
  const { commit, conflicts } = await workspace.takenBack([{ from: target, to: undo, unsure: false }], now);
  const changes = await workspace.diff({ from: undo, to: now });
  // A file that was just being replaced may be missing.
  const missing = new Set(changes.filter(({ kind }) => kind === "deleted").map(({ path }) => path));
  const foreign = conflicts.filter((path) => !missing.has(path));
  if (foreign.length > 0) throw givenUp(foreign);
  return commit;
}

/** What is neither as it was nor as it is to become was made by somebody since the crash, and is not taken from them. */
async function refuseForeign(
  workspace: Workspace,
  { undo, target }: { readonly undo: string; readonly target: string },
): Promise<void> {
  const [sinceUndo, sinceTarget] = [await workspace.diff({ from: undo }), await workspace.diff({ from: target })];
  const changed = new Set(sinceTarget.map(({ path }) => path));
  // A file that is just being replaced may be missing.
  const foreign = sinceUndo.filter(({ path, kind }) => kind !== "deleted" && changed.has(path)).map(({ path }) => path);
  if (foreign.length > 0) throw givenUp(foreign);
}

function givenUp(paths: readonly string[]): CapstanError {
  return new CapstanError(
    "workspace_conflict",
    `A rewind was cut off, and files have changed since then: ${named(paths)}. It is given up, and they stay as they are. Rewind again, or take it back with: capstan rewind --undo`,
    { data: { paths } },
  );
}

function changedByOthers(paths: readonly string[]): CapstanError {
  return new CapstanError(
    "workspace_conflict",
    `Someone else has changed these files since the session did: ${named(paths)}. Nothing was rewound. Move them elsewhere first, or overwrite them too with: capstan rewind --overwrite`,
    { data: { paths } },
  );
}

function named(paths: readonly string[]): string {
  const more = paths.length - NAMED;
  return paths.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const NAMED = 10;

/** The model remembers files that are not so any more; the next message says it. */
export function withRewindNote(content: MessageContent, { untold }: FilesState): MessageContent {
  return untold === undefined ? content : [...content, { type: "text", text: REWIND_NOTE }];
}
