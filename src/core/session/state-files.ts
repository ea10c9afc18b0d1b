import type { EventOf } from "../events/events.ts";
import { mayChangeFiles } from "../rules/tool-names.ts";
import type { SessionState } from "./state.ts";

/** A session's files according to the log. */
export interface FilesState {
  readonly workspace?: PreparedFacts;
  /** The first checkpoint: the files as the session found them. Absent before there is one. */
  readonly start?: CheckpointRef;
  /** The last one. */
  readonly last?: CheckpointRef;
  /** Calls that may change files and were allowed since the last checkpoint, or were still running then. */
  readonly calls: readonly string[];
  /** A rewind that has started and not finished. */
  readonly rewinding?: Rewinding;
  /** The files were rewound, and the model does not know yet. */
  readonly untold?: true;
  /** The checkpoint whose files were exported last. */
  readonly exported?: string;
  /** The workspace was removed; the session can only continue elsewhere. */
  readonly removed?: true;
}

export interface CheckpointRef {
  readonly id: string;
  readonly commit: string;
}

type PreparedFacts = Omit<EventOf<"capstan.workspace_prepared">, "type" | "id" | "processed_at">;
type Rewinding = Omit<EventOf<"capstan.rewind_started">, "type" | "id" | "processed_at">;

export const noFiles: FilesState = { calls: [] };

type FilesEvent = EventOf<
  | "capstan.workspace_prepared"
  | "capstan.workspace_removed"
  | "capstan.workspace_exported"
  | "capstan.checkpoint_taken"
  | "capstan.rewind_started"
  | "capstan.rewound"
  | "capstan.rewind_failed"
>;

export function reduceFiles(state: SessionState, event: FilesEvent): SessionState {
  const { files } = state;
  switch (event.type) {
    case "capstan.workspace_prepared": {
      const { type: _type, id: _id, processed_at: _time, ...workspace } = event;
      return { ...state, files: { ...files, workspace } };
    }
    case "capstan.workspace_removed":
      // A session that works in place, or does so now, has lost only its checkpoints.
      if (files.workspace === undefined || event.reason === "imported") return { ...state, files: noFiles };
      return { ...state, files: { ...files, removed: true } };
    case "capstan.workspace_exported":
      return { ...state, files: { ...files, exported: event.commit } };
    case "capstan.checkpoint_taken": {
      const taken = { id: event.checkpoint_id, commit: event.commit };
      // A call that is still running may change more.
      const calls = files.calls.filter((id) => state.openCalls[id]?.decision === "allowed");
      return { ...state, files: { ...files, start: files.start ?? taken, last: taken, calls } };
    }
    case "capstan.rewind_started": {
      const { type: _type, id: _id, processed_at: _time, ...rewinding } = event;
      return { ...state, files: { ...files, rewinding } };
    }
    case "capstan.rewind_failed": {
      const { rewinding: _given, ...rest } = files;
      return { ...state, files: rest };
    }
    case "capstan.rewound": {
      const { rewinding, ...before } = files;
      const last = rewinding && { id: rewinding.checkpoint_id, commit: rewinding.commit };
      const rest: FilesState = { ...before, ...(last !== undefined && { last }) };
      const told: SessionState = { ...state, files: { ...rest, untold: true } };
      const { to_seq: to } = event;
      if (to === undefined) return told;
      // The model's view is read from the start of the log again, because a compaction may be undone. Messages that
      // still wait since then are removed too.
      const undelivered = state.undelivered.filter(({ seq }) => seq <= to);
      return { ...told, historyFrom: 0, threads: {}, undelivered };
    }
  }
}

/** An allowed call may change files unless its tool only reads. */
export function decideFiles(state: SessionState, event: EventOf<"capstan.permission_decided">): SessionState {
  if (event.decision !== "allow" || event.traits === undefined || !(event.call_id in state.openCalls)) return state;
  if (!mayChangeFiles(event.tool, event.traits)) return state;
  return { ...state, files: { ...state.files, calls: [...state.files.calls, event.call_id] } };
}

/** A message tells the model that the files were rewound. */
export function tellRewind(state: SessionState): SessionState {
  if (state.files.untold === undefined) return state;
  const { untold: _told, ...files } = state.files;
  return { ...state, files };
}

/** The end of a turn checked the files: later changes are not caused by finished calls. */
export function endFiles(state: SessionState): SessionState {
  if (state.files.calls.length === 0 || state.stopReason?.type === "requires_action") return state;
  return { ...state, files: { ...state.files, calls: [] } };
}
