import type { EventOf, StoredEvent } from "../events/events.ts";
import type { CheckpointRef } from "./state-files.ts";

/** A checkpoint in lists. */
export interface Checkpoint extends CheckpointRef {
  /** Its position in the log, and when it was taken. */
  readonly seq: number;
  readonly at: string;
  readonly reason: EventOf<"capstan.checkpoint_taken">["reason"];
  /** The turn it was taken in, from 1; 0 before the first. */
  readonly turn: number;
  /** For `call`: the call that was about to run, … */
  readonly before?: CallName;
  /** … and the calls that may have caused the changes since the previous checkpoint, `since`. */
  readonly calls: readonly CallName[];
  readonly since: CheckpointRef | undefined;
  /** The host died while these calls ran, so part of the changes may have another cause. */
  readonly unsure: boolean;
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** How many files it does not include. */
  readonly leftOut: number;
  /** Position of the conversation: the end of the last turn that had ended. */
  readonly conversation: number;
}

/** A tool call in a few words. */
export interface CallName {
  readonly id: string;
  readonly tool: string;
  /** Its subject: a path, a command. */
  readonly subject: string;
}

/** Every checkpoint of a session, oldest first. */
export function checkpointsIn(events: readonly StoredEvent[]): readonly Checkpoint[] {
  const all: Checkpoint[] = [];
  const calls = new Map<string, CallName>();
  const nameOf = (id: string): CallName => calls.get(id) ?? { id, tool: "a call", subject: "" };
  let turn = 0;
  /** The last position at which no turn was running. */
  let over = 0;
  let isOpen = false;
  let last: CheckpointRef | undefined;
  for (const [index, { seq, event }] of events.entries()) {
    if (
      event.type === "agent.tool_use" ||
      event.type === "agent.mcp_tool_use" ||
      event.type === "agent.custom_tool_use"
    )
      calls.set(event.call_id, { id: event.call_id, tool: event.name, subject: subjectOf(event.input) });
    if (event.type === "session.status_running" && event.goes_on !== true) {
      turn += 1;
      isOpen = true;
    }
    if (event.type === "session.status_idle" && event.stop_reason.type !== "requires_action") {
      over = seq;
      isOpen = false;
    }
    if (event.type === "capstan.rewound") {
      last = restoredBy(events, event) ?? last;
      if (event.to_seq !== undefined) over = seq;
    }
    if (event.type === "capstan.workspace_removed") {
      all.length = 0;
      last = undefined;
    }
    if (event.type !== "capstan.checkpoint_taken") continue;
    const { checkpoint_id: id, commit, reason, call_id: before, added, modified, deleted } = event;
    all.push({
      id,
      commit,
      seq,
      at: event.processed_at ?? "",
      reason,
      turn,
      ...(before !== undefined && reason === "call" && { before: nameOf(before) }),
      calls: event.calls.map(nameOf),
      since: last,
      unsure: event.unsure === true,
      added,
      modified,
      deleted,
      leftOut: event.left_out_count ?? 0,
      conversation: isOpen ? (endAfter(events, index) ?? over) : seq,
    });
    last = { id, commit };
  }
  return all;
}

/** The checkpoint that the current files are based on: the last one, or the one that was last rewound to. */
export function currentCheckpoint(events: readonly StoredEvent[]): Checkpoint | undefined {
  const all = checkpointsIn(events);
  const last = all.at(-1);
  const rewound = events.findLast(({ event }) => event.type === "capstan.rewound");
  if (last === undefined || rewound?.event.type !== "capstan.rewound" || rewound.seq < last.seq) return last;
  const restored = restoredBy(events, rewound.event);
  const target = all.find(({ id }) => id === restored?.id);
  return target === undefined ? last : { ...target, commit: restored?.commit ?? target.commit };
}

/** The files after a rewind: those of its target or, in place, the previous ones without the session's own changes. */
function restoredBy(
  events: readonly StoredEvent[],
  { rewind_id: id, checkpoint_id: target }: EventOf<"capstan.rewound">,
): CheckpointRef | undefined {
  const started = startOf(events, id);
  return started && { id: target, commit: started.commit };
}

function startOf(events: readonly StoredEvent[], id: string): EventOf<"capstan.rewind_started"> | undefined {
  for (const { event } of events) if (event.type === "capstan.rewind_started" && event.rewind_id === id) return event;
  return undefined;
}

export interface CheckpointRange {
  readonly from: string;
  /** Default: the current files. */
  readonly to?: string | undefined;
}

/** Work of the session: from one checkpoint to another, or to the current files. */
export interface OwnStep extends CheckpointRange {
  /** The host died during it, so others may have changed files before it ended. */
  readonly unsure: boolean;
}

/** Work of the session on its files, with the position in the log where it ended. */
export interface LoggedStep extends OwnStep {
  readonly seq: number;
}

/**
 * What the session itself changed according to the log, oldest first: the differences between checkpoints while one of
 * its calls ran, and its rewinds. Changes while no call ran are someone else's.
 */
export function ownSteps(events: readonly StoredEvent[]): readonly LoggedStep[] {
  const calls = checkpointsIn(events).flatMap(({ seq, since, commit: to, calls: by, unsure }) =>
    since === undefined || by.length === 0 ? [] : [{ seq, from: since.commit, to, unsure }],
  );
  const removed = events.findLast(({ event }) => event.type === "capstan.workspace_removed")?.seq ?? 0;
  const rewinds = events.flatMap(({ seq, event }) => {
    const started = event.type === "capstan.rewound" && seq > removed ? startOf(events, event.rewind_id) : undefined;
    return started === undefined ? [] : [{ seq, from: started.undo_commit, to: started.commit, unsure: false }];
  });
  return [...calls, ...rewinds].toSorted((a, b) => a.seq - b.seq);
}

/** The end of the turn, if the files still matched the checkpoint then. */
function endAfter(events: readonly StoredEvent[], index: number): number | undefined {
  const [taken, ...later] = events.slice(index);
  if (taken?.event.type !== "capstan.checkpoint_taken" || taken.event.reason === "call") return undefined;
  const next = later.find(
    ({ event }) =>
      event.type === "capstan.checkpoint_taken" ||
      (event.type === "session.status_idle" && event.stop_reason.type !== "requires_action"),
  );
  return next?.event.type === "session.status_idle" ? next.seq : undefined;
}

const SUBJECT_FIELDS = ["command", "file_path", "notebook_path", "path", "url", "pattern", "description"];
const SHOWN = 80;

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  const value = SUBJECT_FIELDS.map((field) => input[field]).find((found) => typeof found === "string") ?? "";
  const line = value.replaceAll(/\s+/g, " ").trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
