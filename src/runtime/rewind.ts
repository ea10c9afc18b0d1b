import type { Ids } from "../core/clock.ts";
import type { MessageContent } from "../core/content.ts";
import { messageOf } from "../core/errors.ts";
import type { CheckpointRef, FilesState } from "../core/state-files.ts";
import type { Workspace } from "../core/workspace.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { SessionLog } from "./session-log.ts";

/** A session whose files nobody else touches. */
export interface RestingFiles {
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
  await finishRewind(resting);
  return undo;
}

/** Finishes a rewind that was begun, perhaps by a host that died in it. Nothing happens when there is none. */
export async function finishRewind({ log, workspace, checkpoints }: Omit<RestingFiles, "ids">): Promise<void> {
  const { rewinding } = log.state.files;
  if (rewinding === undefined) return;
  const { rewind_id, checkpoint_id, commit, undo_checkpoint_id, to_seq } = rewinding;
  try {
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

const NOTE =
  "[The files in the working directory were brought back to an earlier state. Read them again before relying on them.]";

/** The model remembers files that are not so any more; the next message says it. */
export function withRewindNote(content: MessageContent, { untold }: FilesState): MessageContent {
  return untold === undefined ? content : [...content, { type: "text", text: NOTE }];
}
