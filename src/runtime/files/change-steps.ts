import {
  type CallName,
  type Checkpoint,
  checkpointsIn,
  currentCheckpoint,
  type LoggedStep,
  ownSteps,
} from "../../core/session/checkpoint-list.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventOf, StoredEvent } from "../../core/events/events.ts";
import { mayChangeFiles } from "../../core/rules/tool-names.ts";
import type { FileChange, Workspace } from "../../core/ports/workspace.ts";
import type { CheckpointRange, OwnStep } from "../../core/session/checkpoint-list.ts";

/**
 * A range between two moments of a session. Each is `start`, `turn`, or a checkpoint's id or the last characters of
 * one.
 */
export interface TimeRange {
  /** Default: `start`. */
  readonly from?: string;
  /** Default: now. */
  readonly to?: string;
}

/** The changes between two checkpoints, and the calls that may have made them. */
export interface ChangeStep {
  /** One call, or several that overlapped. Empty if the agent did not make the change. */
  readonly calls: readonly CallName[];
  /** The checkpoint at the end of the step; absent for changes since the last checkpoint. */
  readonly checkpointId?: string;
  readonly files: readonly FileChange[];
}

const SHORTEST = 4;

/** Finds the checkpoint for a moment. */
export function pointIn(events: readonly StoredEvent[], wanted: string): Checkpoint {
  const all = checkpointsIn(events);
  const [first] = all;
  if (first === undefined)
    throw new CapstanError("not_found", "This session has no checkpoint: it has changed no files.");
  if (wanted === "start") return first;
  if (wanted === "turn") return { ...(atTurnStart(events) ?? first), conversation: beforeTurn(events) };
  const found = all.filter(({ id }) => id === wanted || (wanted.length >= SHORTEST && id.endsWith(wanted)));
  const [only] = found;
  if (only === undefined)
    throw new CapstanError(
      "not_found",
      `Checkpoint ${wanted} was not found. Find its id with capstan checkpoints, or use start or turn.`,
    );
  if (found.length > 1)
    throw new CapstanError(
      "invalid_input",
      `${wanted} matches ${found.length} checkpoints. Use more characters of the id.`,
    );
  return only;
}

function lastTurn(events: readonly StoredEvent[]): StoredEvent | undefined {
  return events.findLast(({ event }) => event.type === "session.status_running" && event.goes_on !== true);
}

/** The log position before the last turn began, that is, before its message. */
function beforeTurn(events: readonly StoredEvent[]): number {
  const began = lastTurn(events)?.seq ?? 0;
  const end = events.findLast(
    ({ seq, event }) =>
      seq < began &&
      ((event.type === "session.status_idle" && event.stop_reason.type !== "requires_action") ||
        (event.type === "capstan.rewound" && event.to_seq !== undefined)),
  );
  return end?.seq ?? 0;
}

/**
 * The files as the last turn found them: the checkpoint taken before its first call that could change files. If nothing
 * had changed, that is the checkpoint before it.
 */
function atTurnStart(events: readonly StoredEvent[]): Checkpoint | undefined {
  const seq = lastTurn(events)?.seq ?? 0;
  const call = events.find((stored) => stored.seq > seq && mayChange(stored));
  const kept = checkpointsIn(events).find((one) => one.seq > seq && one.reason === "call");
  if (kept !== undefined && kept.seq < (call?.seq ?? 0)) return kept;
  const current = currentCheckpoint(events.filter((stored) => stored.seq < seq));
  // Exclude changes that were made and rewound before the turn.
  return current && { ...current, seq };
}

export interface ChangeRequest {
  readonly events: readonly StoredEvent[];
  readonly workspace: Workspace;
  readonly from: Checkpoint;
  /** Default: now. */
  readonly to: Checkpoint | undefined;
  /** Others also work on these files, so only the session's own changes count. */
  readonly isShared: boolean;
}

/** The steps from one checkpoint to another, or to now. A rewind is not a step. */
export async function changedSteps(request: ChangeRequest): Promise<readonly ChangeStep[]> {
  const { events, workspace, from, to, isShared } = request;
  const all = checkpointsIn(events);
  const between = all.filter(({ seq }) => seq > from.seq && seq <= (to?.seq ?? Number.POSITIVE_INFINITY));
  const steps: ChangeStep[] = [];
  for (const { id, since, commit, calls } of between)
    if (since !== undefined && (!isShared || calls.length > 0))
      steps.push({ calls, checkpointId: id, files: await workspace.diff({ from: since.commit, to: commit }) });
  const last = currentCheckpoint(events);
  const calls = runningCalls(events);
  if (to === undefined && last !== undefined && (!isShared || calls.length > 0)) {
    const files = await workspace.diff({ from: last.commit });
    if (files.length > 0) steps.push({ calls, files });
  }
  return steps.filter(({ files }) => files.length > 0);
}

/** The two states to compare to see what the session changed between two moments. */
export async function changedRange({ events, workspace, from, to, isShared }: ChangeRequest): Promise<CheckpointRange> {
  if (!isShared) return { from: from.commit, to: to?.commit };
  const steps: OwnStep[] = stepsSince(events, from.seq).filter(
    ({ seq }) => seq <= (to?.seq ?? Number.POSITIVE_INFINITY),
  );
  const last = currentCheckpoint(events);
  if (to === undefined && last !== undefined && runningCalls(events).length > 0)
    steps.push({ from: last.commit, unsure: false });
  return workspace.ownChanges(steps);
}

/** The session's own changes after a log position. */
export function stepsSince(events: readonly StoredEvent[], seq: number): readonly LoggedStep[] {
  return ownSteps(events).filter((step) => step.seq > seq);
}

/** Running calls that may change files. */
function runningCalls(events: readonly StoredEvent[]): readonly CallName[] {
  const over = new Set(
    events.flatMap(({ event }) => ("call_id" in event && "outcome" in event ? [event.call_id] : [])),
  );
  return events.flatMap((stored) =>
    mayChange(stored) && !over.has(stored.event.call_id)
      ? [{ id: stored.event.call_id, tool: stored.event.tool, subject: "" }]
      : [],
  );
}

function mayChange(stored: StoredEvent): stored is StoredEvent & { event: EventOf<"capstan.permission_decided"> } {
  const { event } = stored;
  return (
    event.type === "capstan.permission_decided" &&
    event.decision === "allow" &&
    event.traits !== undefined &&
    mayChangeFiles(event.tool, event.traits)
  );
}

const OPPOSITE = { added: "deleted", deleted: "added", modified: "modified" } as const;

/** Reverses changes, to get from the later state back to the earlier one. */
export function reverseChanges(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.map(({ path, kind, insertions, deletions }) => ({
    path,
    kind: OPPOSITE[kind],
    ...(deletions !== undefined && { insertions: deletions }),
    ...(insertions !== undefined && { deletions: insertions }),
  }));
}
