import type { Ids } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { CheckpointRef, FilesState } from "../../core/session/state-files.ts";
import { REWIND_NOTE } from "../../core/text/text.ts";
import type { FileChange, Workspace } from "../../core/ports/workspace.ts";
import type { Checkpoint, OwnStep } from "../../core/session/checkpoint-list.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { SessionLog } from "../log/session-log.ts";
import { requireOwnDirectory } from "../paths/session-location.ts";

export interface RewindRequest {
  /** `start`, `turn` for the beginning of the last turn, or a checkpoint's id or the last characters of one. */
  readonly to: string;
  /** Also rewind the conversation, to the end of the last turn before the checkpoint. */
  readonly conversation?: boolean;
  /** Only show what would change. */
  readonly dryRun?: boolean;
  /** Also rewind files that someone else has changed since. Default: such files stop the rewind. */
  readonly overwrite?: boolean;
}

export interface Rewind {
  readonly checkpoint: Checkpoint;
  /** The files that the rewind changed, or would change. */
  readonly files: readonly FileChange[];
  /**
   * In a dry run: files that someone else has changed since, or may have. They stop the rewind unless `overwrite` is
   * set.
   */
  readonly conflicts: readonly string[];
  /** A checkpoint of the state before the rewind; absent in a dry run. */
  readonly undoCheckpointId?: string;
}

/** A session whose files nothing else is changing. */
export interface RestingFiles {
  readonly record: SessionRecord;
  readonly log: SessionLog;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints;
}

export interface RewindGoal {
  readonly target: CheckpointRef;
  /** The session's own changes to undo, if others also work on the files. Default: everything. */
  readonly steps?: readonly OwnStep[] | undefined;
  /** Also rewind files that someone else has changed since. */
  readonly overwrite: boolean;
  /** Rewind the conversation to this log position. */
  readonly toSeq: number | undefined;
}

/**
 * Restores the files to a checkpoint, and the conversation to a log position if given. Returns the checkpoint that
 * undoes it.
 */
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
 * Finishes a rewind in progress, possibly of a host that died; does nothing if there is none. If it rejects and the log
 * still shows the rewind as in progress, it was not attempted; otherwise it was abandoned.
 */
export async function finishRewind(
  { log, record, workspace, checkpoints }: Omit<RestingFiles, "ids">,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<void> {
  const { rewinding, last } = log.state.files;
  if (rewinding === undefined) return;
  requireOwnDirectory(record);
  const { rewind_id, checkpoint_id, commit, undo_checkpoint_id, undo_commit, to_seq } = rewinding;
  const isShared = record.environment.workspace.kind === "in-place";
  try {
    if (!isNew && !isShared) await refuseForeign(workspace, { undo: last?.commit ?? commit, target: commit });
    // After a crash the files are partly restored, so restore from their current state.
    const now = await checkpoints.take({ reason: "rewind" });
    const rest = { undo: undo_commit, target: commit, now: now.commit };
    await workspace.restore(isNew || !isShared ? commit : await goalAfterCrash(workspace, rest), now.commit);
  } catch (thrown) {
    await log.append([{ type: "capstan.rewind_failed", rewind_id, reason: messageOf(thrown) }]);
    throw thrown;
  }
  checkpoints.noteRestored({ id: checkpoint_id, commit });
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

/** Keeps other people's changes to other files since the crash; fails if they changed files of the rewind. */
async function goalAfterCrash(
  workspace: Workspace,
  { undo, target, now }: { readonly undo: string; readonly target: string; readonly now: string },
): Promise<string> {
  const { commit, conflicts } = await workspace.takenBack([{ from: target, to: undo, unsure: false }], now);
  const changes = await workspace.diff({ from: undo, to: now });
  // A file that was being replaced during the crash may be missing.
  const missing = new Set(changes.filter(({ kind }) => kind === "deleted").map(({ path }) => path));
  const foreign = conflicts.filter((path) => !missing.has(path));
  if (foreign.length > 0) throw givenUp(foreign);
  return commit;
}

/**
 * Fails if a file is in neither its old nor its new state: someone changed it after the crash, and it must not be
 * overwritten.
 */
async function refuseForeign(
  workspace: Workspace,
  { undo, target }: { readonly undo: string; readonly target: string },
): Promise<void> {
  const [sinceUndo, sinceTarget] = [await workspace.diff({ from: undo }), await workspace.diff({ from: target })];
  const changed = new Set(sinceTarget.map(({ path }) => path));
  // A file that was being replaced during the crash may be missing.
  const foreign = sinceUndo.filter(({ path, kind }) => kind !== "deleted" && changed.has(path)).map(({ path }) => path);
  if (foreign.length > 0) throw givenUp(foreign);
}

function givenUp(paths: readonly string[]): CapstanError {
  return new CapstanError(
    "workspace_conflict",
    `A rewind was interrupted, and these files have changed since: ${listPaths(paths)}. The rewind was abandoned and the files were kept. Rewind again, or undo it with: capstan rewind --undo`,
    { data: { paths } },
  );
}

function changedByOthers(paths: readonly string[]): CapstanError {
  return new CapstanError(
    "workspace_conflict",
    `Someone else has changed these files since the session did: ${listPaths(paths)}. Nothing was rewound. Move them first, or overwrite them with: capstan rewind --overwrite`,
    { data: { paths } },
  );
}

function listPaths(paths: readonly string[]): string {
  const more = paths.length - NAMED;
  return paths.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const NAMED = 10;

/** Adds a note to the next message that the files were rewound, because the model remembers their later content. */
export function withRewindNote(content: MessageContent, { untold }: FilesState): MessageContent {
  return untold === undefined ? content : [...content, { type: "text", text: REWIND_NOTE }];
}
