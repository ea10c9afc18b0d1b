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
import type { CheckpointRange, FileChange, OwnStep, Workspace } from "../../core/ports/workspace.ts";

/** From one moment of a session to another; each is `start`, `turn`, or a checkpoint's id or the end of one. */
export interface TimeRange {
  /** Default: `start`. */
  readonly from?: string;
  /** Default: now. */
  readonly to?: string;
}

/** What changed between two checkpoints, and who may have done it. */
export interface ChangeStep {
  /** One call, or several that overlapped; none when the agent did not do it. */
  readonly calls: readonly CallName[];
  /** The checkpoint it ends with; absent for what happened since the last one. */
  readonly checkpointId?: string;
  readonly files: readonly FileChange[];
}

const SHORTEST = 4;

/** The checkpoint that stands for a moment. */
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
      `There is no checkpoint ${wanted}. Find its id with capstan checkpoints, or say start or turn.`,
    );
  if (found.length > 1)
    throw new CapstanError("invalid_input", `${wanted} stands for ${found.length} checkpoints. Give more of the id.`);
  return only;
}

function lastTurn(events: readonly StoredEvent[]): StoredEvent | undefined {
  return events.findLast(({ event }) => event.type === "session.status_running" && event.goes_on !== true);
}

/** Where the conversation stood when the last turn began: its message came before it. */
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
 * The files as the last turn found them: what was kept before its first call that may change something. Nothing was,
 * when nothing had changed since the checkpoint before.
 */
function atTurnStart(events: readonly StoredEvent[]): Checkpoint | undefined {
  const seq = lastTurn(events)?.seq ?? 0;
  const call = events.find((stored) => stored.seq > seq && mayChange(stored));
  const kept = checkpointsIn(events).find((one) => one.seq > seq && one.reason === "call");
  if (kept !== undefined && kept.seq < (call?.seq ?? 0)) return kept;
  const current = currentCheckpoint(events.filter((stored) => stored.seq < seq));
  // What was done and taken back before the turn is no part of it.
  return current && { ...current, seq };
}

export interface ChangeRequest {
  readonly events: readonly StoredEvent[];
  readonly workspace: Workspace;
  readonly from: Checkpoint;
  /** Default: now. */
  readonly to: Checkpoint | undefined;
  /** Others work on the files too: only what the session itself did is a change of the session. */
  readonly isShared: boolean;
}

/** Step by step from one checkpoint to another, or to now. A rewind is no step. */
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

/** The two states to compare for what the session changed between two moments. */
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

/** What the session itself changed after a place in the log. */
export function stepsSince(events: readonly StoredEvent[], seq: number): readonly LoggedStep[] {
  return ownSteps(events).filter((step) => step.seq > seq);
}

/** Calls that run now, and may change something. */
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

/** What must be done to get from the later state to the earlier one. */
export function reversed(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.map(({ path, kind, insertions, deletions }) => ({
    path,
    kind: OPPOSITE[kind],
    ...(deletions !== undefined && { insertions: deletions }),
    ...(insertions !== undefined && { deletions: insertions }),
  }));
}
