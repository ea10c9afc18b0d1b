import type { Checkpoint } from "../../core/session/checkpoint-list.ts";
import { messageOf } from "../../core/errors.ts";
import type { WireCheckpoint, WireRewind } from "../../protocol/api/files.ts";
import type { Rewind } from "../../runtime/files/files.ts";
import { usage } from "../terminal/failure.ts";
import { asked } from "./remote-failure.ts";
import type { ChosenServer } from "./server.ts";
import { writeWholeStream } from "../terminal/whole-file.ts";
import type { CommandFiles } from "./workspaces-session.ts";

/** The files of sessions on a server. What is exported comes here; what is applied or rewound stays there. */
export function remoteFiles({ client: { files } }: ChosenServer): CommandFiles {
  return {
    checkpoints: async (id) => (await asked(files.checkpoints(id))).map(checkpointFromWire),
    async diff(id, { from, to, byCall = false } = {}) {
      const { files: changed, steps } = await asked(files.diff(id, { from, to, byCall }));
      return {
        files: changed,
        steps: steps.map(({ checkpoint_id: checkpointId, ...step }) => ({
          ...step,
          ...(checkpointId !== undefined && { checkpointId }),
        })),
      };
    },
    patch: async (id, range) => Buffer.from(await asked(files.patch(id, range))),
    rewind: async (id, { to, conversation = false, dryRun = false, overwrite = false }) =>
      rewindFromWire(await asked(files.rewind(id, { to, conversation, dry_run: dryRun, overwrite }))),
    undoRewind: async (id, options) => rewindFromWire(await asked(files.undoRewind(id, options))),
    async exportPatch(id, _target, save = async () => {}) {
      const patch = Buffer.from(await asked(files.exportPatch(id)));
      await save(patch);
      return patch;
    },
    async exportZip(id, file) {
      const zip = await asked(files.exportZip(id));
      // It holds what the agent wrote: for its owner alone. Never over a file that is there.
      await writeWholeStream(file, zip).catch((thrown: unknown) => {
        if ((thrown as NodeJS.ErrnoException).syscall === undefined) throw thrown;
        throw usage(`${file} cannot be written: ${messageOf(thrown)}. Name another file.`);
      });
    },
    exportBranch: (id, options) => asked(files.exportBranch(id, options)),
    apply: (id, options) => asked(files.apply(id, options)),
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
