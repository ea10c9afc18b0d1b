import type { EventOf, EventType } from "../../src/core/events/events.ts";

type WorkspaceEvent = Extract<
  EventType,
  `capstan.${"workspace" | "checkpoint" | "rewind" | "rewound" | "resource" | "project_file" | "configuration" | "settings" | "programs"}${string}`
>;

const commit = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const at = { processed_at: "2026-01-02T03:04:05.000Z" };

/** One event of every type that speaks of a session's files. */
export const WORKSPACE_EXAMPLES: { readonly [T in WorkspaceEvent]: EventOf<T> } = {
  "capstan.project_file_found": {
    type: "capstan.project_file_found",
    id: "sevt_81",
    ...at,
    path: "CLAUDE.md",
    used: false,
    bytes: 120,
  },
  "capstan.workspace_prepared": {
    type: "capstan.workspace_prepared",
    id: "sevt_61",
    ...at,
    kind: "copy",
    cwd: "/home/user/.capstan/workspaces/sesn_1/files",
    source: "/home/user/shop",
    mounts: [{ source: "/home/user/shop", target: ".", readOnly: false, files: 12, bytes: 3_400, skipped: 1 }],
    notes: ["1 link was left out."],
  },
  "capstan.workspace_busy": { type: "capstan.workspace_busy", id: "sevt_62", ...at, session_id: "sesn_2" },
  "capstan.checkpoint_taken": {
    type: "capstan.checkpoint_taken",
    id: "sevt_63",
    ...at,
    checkpoint_id: "ckpt_1",
    commit,
    reason: "turn_end",
    calls: ["toolu_1"],
    added: 1,
    modified: 2,
    deleted: 0,
    left_out: [{ path: "film.mp4", why: "too large" }],
    left_out_count: 1,
  },
  "capstan.checkpoint_failed": {
    type: "capstan.checkpoint_failed",
    id: "sevt_64",
    ...at,
    reason: "There is no git on this machine.",
  },
  "capstan.configuration_changed": {
    type: "capstan.configuration_changed",
    id: "sevt_6c",
    ...at,
    changed: [{ path: "sub/.git", read_by: "git" }],
    disabled: [{ path: "sub/.git", moved_to: "sub/.git.disabled-by-capstan" }],
  },
  "capstan.settings_withheld": {
    type: "capstan.settings_withheld",
    id: "sevt_6d",
    ...at,
    files: [
      {
        path: "/home/user/shop/.capstan/config.yaml",
        reason: "untrusted",
        hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        fields: ["permissions.mode"],
        fields_count: 1,
      },
    ],
    next_step: "To review and trust: capstan trust",
  },
  "capstan.programs_pinned": {
    type: "capstan.programs_pinned",
    id: "sevt_6e",
    ...at,
    files: [{ path: "hooks/check.mjs", sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }],
  },
  "capstan.rewind_started": {
    type: "capstan.rewind_started",
    id: "sevt_65",
    ...at,
    rewind_id: "rwnd_1",
    checkpoint_id: "ckpt_1",
    commit,
    undo_commit: commit,
    undo_checkpoint_id: "ckpt_2",
  },
  "capstan.rewound": {
    type: "capstan.rewound",
    id: "sevt_66",
    ...at,
    rewind_id: "rwnd_1",
    checkpoint_id: "ckpt_1",
    undo_checkpoint_id: "ckpt_2",
  },
  "capstan.rewind_failed": {
    type: "capstan.rewind_failed",
    id: "sevt_67",
    ...at,
    rewind_id: "rwnd_1",
    reason: "The disk is full.",
  },
  "capstan.workspace_exported": {
    type: "capstan.workspace_exported",
    id: "sevt_68",
    ...at,
    how: "apply",
    commit,
    target: "/home/user/shop",
  },
  "capstan.workspace_removed": { type: "capstan.workspace_removed", id: "sevt_69", ...at },
  "capstan.resource_added": {
    type: "capstan.resource_added",
    id: "sevt_70",
    ...at,
    resource_id: "sesrsc_1",
    mount_path: "notes.txt",
    file_id: "file_1",
  },
};
