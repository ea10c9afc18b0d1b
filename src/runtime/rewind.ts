import type { Ids } from "../core/clock.ts";
import type { MessageContent } from "../core/content.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { SessionRecord } from "../core/store.ts";
import type { CheckpointRef, FilesState } from "../core/state-files.ts";
import { REWIND_NOTE } from "../core/text.ts";
import type { Workspace } from "../core/workspace.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { SessionLog } from "./session-log.ts";
import { requireOwnPlace } from "./session-place.ts";

/** A session whose files nobody else touches. */
export interface RestingFiles {
  readonly record: SessionRecord;
  readonly log: SessionLog;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints;
}

/** Brings the files to a checkpoint, and the conversation to a place in the log when one is given. Gives the way back. */
export async function rewindTo(
  resting: RestingFiles,
  { target, toSeq }: { readonly target: CheckpointRef; readonly toSeq: number | undefined },
): Promise<CheckpointRef> {
  const { log, ids, checkpoints } = resting;
  const undo = await checkpoints.take({ reason: "rewind" });
  await log.append([
    {
      type: "capstan.rewind_started",
      rewind_id: ids.next("rwnd"),
      checkpoint_id: target.id,
      commit: target.commit,
      undo_checkpoint_id: undo.id,
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
  const { rewind_id, checkpoint_id, commit, undo_checkpoint_id, to_seq } = rewinding;
  try {
    if (!isNew) await refuseForeign(workspace, { undo: last?.commit ?? commit, target: commit });
    // After a crash the files are half-way: what is there now is what they are brought from.
    const now = await checkpoints.take({ reason: "rewind" });
    await workspace.restore(commit, now.commit);
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

/** What is neither as it was nor as it is to become was made by somebody since the crash, and is not taken from them. */
async function refuseForeign(
  workspace: Workspace,
  { undo, target }: { readonly undo: string; readonly target: string },
): Promise<void> {
  const [sinceUndo, sinceTarget] = [await workspace.diff({ from: undo }), await workspace.diff({ from: target })];
  const changed = new Set(sinceTarget.map(({ path }) => path));
  // A file that is just being replaced may be missing.
  const foreign = sinceUndo.filter(({ path, kind }) => kind !== "deleted" && changed.has(path)).map(({ path }) => path);
  if (foreign.length > 0)
    throw new CapstanError(
      "workspace_conflict",
      `A rewind was cut off, and files have changed since then: ${foreign.slice(0, 5).join(", ")}. It is given up, and they stay as they are. Rewind again, or take it back with: capstan rewind --undo`,
      { data: { paths: foreign } },
    );
}

/** The model remembers files that are not so any more; the next message says it. */
export function withRewindNote(content: MessageContent, { untold }: FilesState): MessageContent {
  return untold === undefined ? content : [...content, { type: "text", text: REWIND_NOTE }];
}
