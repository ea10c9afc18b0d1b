import type { Checkpoint } from "../../../core/session/checkpoint-list.ts";
import type { WireCheckpoint, WireDiff, WireRewind } from "../../../protocol/api/files.ts";
import type { Rewind, SessionDiff } from "../../../runtime/files/files.ts";

export function checkpointToWire({ leftOut, calls, since, ...checkpoint }: Checkpoint): WireCheckpoint {
  return { ...checkpoint, calls: [...calls], ...(since !== undefined && { since }), left_out: leftOut };
}

export function diffToWire({ files, steps }: SessionDiff): WireDiff {
  return {
    files: [...files],
    steps: steps.map(({ calls, checkpointId, files: changed }) => ({
      calls: [...calls],
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
      files: [...changed],
    })),
  };
}

export function rewindToWire(
  { checkpoint, files, conflicts, undoCheckpointId }: Rewind,
  conversation: boolean,
): WireRewind {
  return {
    checkpoint: checkpointToWire(checkpoint),
    files: [...files],
    conflicts: [...conflicts],
    ...(undoCheckpointId !== undefined && { undo_checkpoint_id: undoCheckpointId }),
    conversation,
  };
}
