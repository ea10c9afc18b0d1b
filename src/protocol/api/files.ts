import { z } from "zod";
import { queryFlag } from "./common.ts";

/**
 * A moment of a session's files: `start`, `turn` for the beginning of the last turn, or a checkpoint's id or its last
 * characters.
 */
const moment = z.string().min(1);

const callName = z.object({ id: z.string(), tool: z.string(), subject: z.string() });
const checkpointRef = z.object({ id: z.string(), commit: z.string() });

export const checkpoint = checkpointRef.extend({
  seq: z.number(),
  at: z.string(),
  reason: z.enum(["call", "call_end", "turn_end", "rewind", "request"]),
  turn: z.number(),
  before: callName.optional().describe("For `call`: the call that was about to run."),
  calls: z.array(callName).describe("Calls that may have made the changes since the previous checkpoint."),
  since: checkpointRef.optional(),
  unsure: z.boolean().describe("The host died while these calls ran, so others may have made part of the changes."),
  added: z.number(),
  modified: z.number(),
  deleted: z.number(),
  left_out: z.number().describe("The number of files that are not in the checkpoint."),
  conversation: z.number().describe("The position of the conversation in the log."),
});
export type WireCheckpoint = z.infer<typeof checkpoint>;

export const fileChange = z.object({
  path: z.string(),
  kind: z.enum(["added", "modified", "deleted"]),
  insertions: z.number().optional().describe("Lines; absent for binary files."),
  deletions: z.number().optional(),
});
export type WireFileChange = z.infer<typeof fileChange>;

export const diffQuery = z.strictObject({
  from: moment.optional().describe("`start`, `turn` or a checkpoint. Default: start."),
  to: moment.optional().describe("A checkpoint. Default: now."),
  by_call: queryFlag.optional().describe("Also return the steps: what each call may have changed."),
});
export const patchQuery = diffQuery.omit({ by_call: true }).extend({
  path: z.string().min(1).optional().describe("Only changes in this file, named as in `…/diff`."),
});

export const changeStep = z.object({
  calls: z
    .array(callName)
    .describe(
      "One call, or several that overlapped. Empty if the agent did not make the change; only a session's own workspace lists such changes.",
    ),
  checkpoint_id: z
    .string()
    .optional()
    .describe("The checkpoint at the end of the step; absent for changes since the last one."),
  files: z.array(fileChange),
});

export const diff = z.object({ files: z.array(fileChange), steps: z.array(changeStep) });
export type WireDiff = z.infer<typeof diff>;

export const rewindInput = z.strictObject({
  to: moment,
  conversation: z.boolean().optional().describe("Also rewind the conversation."),
  dry_run: z.boolean().optional(),
  overwrite: z
    .boolean()
    .optional()
    .describe("Also rewind files that someone else has changed since. Default: such files stop the rewind."),
});
export const undoQuery = z.strictObject({
  overwrite: queryFlag.optional().describe("Also rewind files that someone else has changed since."),
});
export type RewindInput = z.input<typeof rewindInput>;

export const rewind = z.object({
  checkpoint,
  files: z.array(fileChange).describe("The files that the rewind changed, or would change."),
  conflicts: z
    .array(z.string())
    .describe("In a dry run: those of the files that someone else has changed since, or may have."),
  undo_checkpoint_id: z
    .string()
    .optional()
    .describe("A checkpoint of the state before the rewind; absent in a dry run."),
  conversation: z.boolean().describe("Whether the conversation was rewound too."),
});
export type WireRewind = z.infer<typeof rewind>;

export const applyInput = z.strictObject({ dry_run: z.boolean().optional() });

export const applied = z.object({
  applied: z.array(z.object({ path: z.string(), how: z.enum(["written", "deleted", "merged", "already"]) })),
  conflicts: z
    .array(z.object({ path: z.string(), why: z.string() }))
    .describe("If there are any, nothing was applied."),
});
export type WireApplied = z.infer<typeof applied>;

export const branchInput = z.strictObject({ branch: z.string().min(1).optional(), message: z.string().optional() });

export const branchExport = z.object({
  branch: z.string(),
  commit: z.string(),
  repository: z.string(),
  skipped: z.array(z.string()),
});
export type WireBranch = z.infer<typeof branchExport>;

export const fileQuery = z.strictObject({
  path: z.string().default(".").describe("Relative to the workspace, such as `src/main.ts`."),
});

export const fileList = z.object({
  path: z.string(),
  data: z.array(
    z.object({
      name: z.string(),
      path: z.string().describe("Relative to the workspace."),
      type: z.enum(["file", "directory", "link", "other"]),
      size_bytes: z.number().nullable().describe("For a file."),
    }),
  ),
  truncated: z.boolean().describe("There are more entries than the list can contain."),
});
export type WireFileList = z.infer<typeof fileList>;
