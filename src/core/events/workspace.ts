import { z } from "zod";
import { stored } from "./fields.ts";

/** What happened to a session's files. */

const filePath = z.string();

/** The workspace is there; the first event of a session. */
export const workspacePrepared = z.object({
  type: z.literal("capstan.workspace_prepared"),
  ...stored,
  kind: z.enum(["in-place", "copy", "worktree", "clone"]),
  cwd: filePath,
  source: filePath,
  /** For worktrees and clones: the branch that was made, and the commit it starts from. */
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
  /** What a person should know, a sentence each. */
  notes: z.array(z.string()),
});
/** A turn waits for that of another session which works in the same directory. */
export const workspaceBusy = z.object({
  type: z.literal("capstan.workspace_busy"),
  ...stored,
  /** The session that is waited for. */
  session_id: z.string(),
});
/** The files as they were then can be brought back. */
export const checkpointTaken = z.object({
  type: z.literal("capstan.checkpoint_taken"),
  ...stored,
  checkpoint_id: z.string(),
  /** Its name in the shadow repository. The log's hashes cover it, and so the files. */
  commit: z.string(),
  reason: z.enum(["call", "call_end", "turn_end", "rewind", "request"]),
  /** For `call`: the call that was about to run; for `call_end`: the one that was over. */
  call_id: z.string().optional(),
  /** Calls that may have made what changed since the checkpoint before: one, or several that overlapped, or none of the agent. */
  calls: z.array(z.string()),
  /** The host died while these calls ran, so others may have made part of what changed. */
  unsure: z.literal(true).optional(),
  added: z.number().int(),
  modified: z.number().int(),
  deleted: z.number().int(),
  /** What is not in it; not all of it when `left_out_count` is larger. */
  left_out: z.array(z.object({ path: filePath, why: z.string() })).optional(),
  left_out_count: z.number().int().optional(),
});
/** No checkpoint could be taken, and the session goes on without it. */
export const checkpointFailed = z.object({
  type: z.literal("capstan.checkpoint_failed"),
  ...stored,
  reason: z.string(),
});
/** Configuration appeared or changed in the workspace during a turn, whatever wrote it. */
export const configurationChanged = z.object({
  type: z.literal("capstan.configuration_changed"),
  ...stored,
  /** Relative to the workspace, and who reads it; not all of it when `changed_count` is larger. */
  changed: z.array(z.object({ path: filePath, read_by: z.string() })),
  changed_count: z.number().int().optional(),
  /** What would have taken effect by itself, and was given another name. */
  disabled: z.array(z.object({ path: filePath, moved_to: filePath })),
  /** Why the workspace could not be looked at, or something in it not be switched off. */
  problem: z.string().optional(),
});
/** The files are being brought back. After a crash that is done again. */
export const rewindStarted = z.object({
  type: z.literal("capstan.rewind_started"),
  ...stored,
  rewind_id: z.string(),
  /** Where to. */
  checkpoint_id: z.string(),
  /** The files as they become: of a session that works in place, what others changed since stays. */
  commit: z.string(),
  /** A checkpoint of what was there: the way back. */
  undo_checkpoint_id: z.string(),
  undo_commit: z.string(),
  /** The conversation goes back to this place too. */
  to_seq: z.number().int().optional(),
});
export const rewound = z.object({
  type: z.literal("capstan.rewound"),
  ...stored,
  rewind_id: z.string(),
  checkpoint_id: z.string(),
  undo_checkpoint_id: z.string(),
  /** What was said after it is no part of the conversation any more. */
  to_seq: z.number().int().optional(),
});
/** It could not be done, or not to its end. The files may be half-way; the way back is the undo checkpoint. */
export const rewindFailed = z.object({
  type: z.literal("capstan.rewind_failed"),
  ...stored,
  rewind_id: z.string(),
  reason: z.string(),
});
/** What changed was taken out of the workspace. */
export const workspaceExported = z.object({
  type: z.literal("capstan.workspace_exported"),
  ...stored,
  how: z.enum(["patch", "zip", "branch", "apply"]),
  /** The checkpoint's name in the shadow repository. */
  commit: z.string(),
  target: z.string(),
});
/** The workspace and its checkpoints are gone. */
export const workspaceRemoved = z.object({
  type: z.literal("capstan.workspace_removed"),
  ...stored,
  /** The session came from an archive, which has no files: they stayed behind, and it works in place from now on. */
  reason: z.literal("imported").optional(),
});

/** A file or a repository was put into the workspace by whoever started the session, or later. */
export const resourceAdded = z.object({
  type: z.literal("capstan.resource_added"),
  ...stored,
  resource_id: z.string(),
  /** Relative to the workspace. */
  mount_path: z.string(),
  file_id: z.string().optional(),
  /** Of a repository; never with a secret in it. */
  url: z.string().optional(),
});
