import type { Checkpoint } from "../../core/session/checkpoint-list.ts";
import { messageOf } from "../../core/errors.ts";
import type { WireCheckpoint, WireRewind } from "../../protocol/api/files.ts";
import type { Rewind } from "../../runtime/files/rewind.ts";
import { usageError } from "../terminal/failure.ts";
import { awaitServer } from "./remote-failure.ts";
import type { ChosenServer } from "./server.ts";
import { writeWholeStream } from "../terminal/write-file.ts";
import type { CommandFiles } from "./workspaces-session.ts";

/** Files of sessions on a server. Exports are written here; apply and rewind act on the server. */
export function remoteFiles({ client: { files } }: ChosenServer): CommandFiles {
  return {
    checkpoints: async (id) => (await awaitServer(files.checkpoints(id))).map(checkpointFromWire),
    async diff(id, { from, to, byCall = false } = {}) {
      const { files: changed, steps } = await awaitServer(files.diff(id, { from, to, byCall }));
      return {
        files: changed,
        steps: steps.map(({ checkpoint_id: checkpointId, ...step }) => ({
          ...step,
          ...(checkpointId !== undefined && { checkpointId }),
        })),
      };
    },
    patch: async (id, range) => Buffer.from(await awaitServer(files.patch(id, range))),
    rewind: async (id, { to, conversation = false, dryRun = false, overwrite = false }) =>
      rewindFromWire(await awaitServer(files.rewind(id, { to, conversation, dry_run: dryRun, overwrite }))),
    undoRewind: async (id, options) => rewindFromWire(await awaitServer(files.undoRewind(id, options))),
    async exportPatch(id, _target, save = async () => {}) {
      const patch = Buffer.from(await awaitServer(files.exportPatch(id)));
      await save(patch);
      return patch;
    },
    async exportZip(id, file) {
      const zip = await awaitServer(files.exportZip(id));
      // Readable only by its owner, because it contains the agent's work. Never overwrites a file.
      await writeWholeStream(file, zip).catch((thrown: unknown) => {
        if ((thrown as NodeJS.ErrnoException).syscall === undefined) throw thrown;
        throw usageError(`Cannot write ${file}: ${messageOf(thrown)}. Choose another file.`);
      });
    },
    exportBranch: (id, options) => awaitServer(files.exportBranch(id, options)),
    apply: (id, options) => awaitServer(files.apply(id, options)),
  };
}

function checkpointFromWire({ left_out: leftOut, since, ...checkpoint }: WireCheckpoint): Checkpoint {
  return { ...checkpoint, since, leftOut };
}

function rewindFromWire({ checkpoint, files, conflicts, undo_checkpoint_id: undoCheckpointId }: WireRewind): Rewind {
  return {
    checkpoint: checkpointFromWire(checkpoint),
    files,
    conflicts,
    ...(undoCheckpointId !== undefined && { undoCheckpointId }),
  };
}
