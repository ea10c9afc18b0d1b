import { z } from "zod";
import { stored } from "./fields.ts";

/** Events about a session's files. */

const filePath = z.string();

/** The workspace is ready; the first event of a session. */
export const workspacePrepared = z.object({
  type: z.literal("capstan.workspace_prepared"),
  ...stored,
  kind: z.enum(["in-place", "copy", "worktree", "clone"]),
  cwd: filePath,
  source: filePath,
  /** For worktrees and clones: the branch that was created, and the commit it starts from. */
  branch: z.string().optional(),
  base: z.string().optional(),
  mounts: z
    .array(
      z.object({
        source: filePath,
        target: filePath,
        readOnly: z.boolean(),
        files: z.number().int(),
        bytes: z.number().int(),
        skipped: z.number().int(),
      }),
    )
    .optional(),
  /** Notes for people, one sentence each. */
  notes: z.array(z.string()),
});
/** The turn waits for another session's turn in the same directory. */
export const workspaceBusy = z.object({
  type: z.literal("capstan.workspace_busy"),
  ...stored,
  /** The session that it waits for. */
  session_id: z.string(),
});
/** The files as of this event can be restored. */
export const checkpointTaken = z.object({
  type: z.literal("capstan.checkpoint_taken"),
  ...stored,
  checkpoint_id: z.string(),
  /** The commit in the shadow repository. The log's hashes cover it, and therefore the files. */
  commit: z.string(),
  reason: z.enum(["call", "call_end", "turn_end", "rewind", "request"]),
  /** For `call`: the call that was about to run; for `call_end`: the call that had ended. */
  call_id: z.string().optional(),
  /** Calls that may have caused the changes since the previous checkpoint: one, several that overlapped, or none. */
  calls: z.array(z.string()),
  /** The host died while these calls ran, so part of the changes may have another cause. */
  unsure: z.literal(true).optional(),
  added: z.number().int(),
  modified: z.number().int(),
  deleted: z.number().int(),
  /** Files that are not included; incomplete if `left_out_count` is larger. */
  left_out: z.array(z.object({ path: filePath, why: z.string() })).optional(),
  left_out_count: z.number().int().optional(),
});
/** No checkpoint could be taken; the session continues without it. */
export const checkpointFailed = z.object({
  type: z.literal("capstan.checkpoint_failed"),
  ...stored,
  reason: z.string(),
});
/** Configuration appeared or changed in the workspace during a turn, whatever wrote it. */
export const configurationChanged = z.object({
  type: z.literal("capstan.configuration_changed"),
  ...stored,
  /** Relative to the workspace, and what reads it; incomplete if `changed_count` is larger. */
  changed: z.array(z.object({ path: filePath, read_by: z.string() })),
  changed_count: z.number().int().optional(),
  /** Files that would have taken effect automatically, and were renamed. */
  disabled: z.array(z.object({ path: filePath, moved_to: filePath })),
  /** Why the workspace could not be checked, or something in it could not be disabled. */
  problem: z.string().optional(),
});
/** The files are being restored. After a crash, this is repeated. */
export const rewindStarted = z.object({
  type: z.literal("capstan.rewind_started"),
  ...stored,
  rewind_id: z.string(),
  /** The checkpoint to restore. */
  checkpoint_id: z.string(),
  /** The files after the rewind. For a session that works in place, changes by others are kept. */
  commit: z.string(),
  /** A checkpoint of the files before the rewind, to undo it. */
  undo_checkpoint_id: z.string(),
  undo_commit: z.string(),
  /** Rewinds the conversation to this position too. */
  to_seq: z.number().int().optional(),
});
export const rewound = z.object({
  type: z.literal("capstan.rewound"),
  ...stored,
  rewind_id: z.string(),
  checkpoint_id: z.string(),
  undo_checkpoint_id: z.string(),
  /** Messages after it are no longer part of the conversation. */
  to_seq: z.number().int().optional(),
});
/**
 * The rewind failed, or did not complete. The files may be partly restored; the undo checkpoint has their earlier
 * state.
 */
export const rewindFailed = z.object({
  type: z.literal("capstan.rewind_failed"),
  ...stored,
  rewind_id: z.string(),
  reason: z.string(),
});
/** Changes were exported from the workspace. */
export const workspaceExported = z.object({
  type: z.literal("capstan.workspace_exported"),
  ...stored,
  how: z.enum(["patch", "zip", "branch", "apply"]),
  /** The checkpoint's commit in the shadow repository. */
  commit: z.string(),
  target: z.string(),
});
/** The workspace and its checkpoints were removed. */
export const workspaceRemoved = z.object({
  type: z.literal("capstan.workspace_removed"),
  ...stored,
  /** The session was imported from an archive, which contains no files; it now works in place. */
  reason: z.literal("imported").optional(),
});

/** A file or a repository was added to the workspace, at the session's start or later. */
export const resourceAdded = z.object({
  type: z.literal("capstan.resource_added"),
  ...stored,
  resource_id: z.string(),
  /** Relative to the workspace. */
  mount_path: z.string(),
  file_id: z.string().optional(),
  /** For a repository; never contains a secret. */
  url: z.string().optional(),
});
