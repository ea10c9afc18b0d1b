import { type Checkpoint, checkpointsIn, ownSteps } from "../../core/session/checkpoint-list.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventOf, StoredEvent } from "../../core/events/events.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { ApplyOutcome, BranchExport, FileChange, WorkLimits } from "../../core/ports/workspace.ts";
import type { OwnStep } from "../../core/session/checkpoint-list.ts";
import {
  changedRange,
  changedSteps,
  type ChangeRequest,
  type ChangeStep,
  pointIn,
  reverseChanges,
  stepsSince,
  type TimeRange,
} from "./change-steps.ts";
import { fileEvents } from "../log/stored-state.ts";
import { Occupancy } from "../engine/directory-claim.ts";
import { requireSource } from "../paths/session-location.ts";
import { type FilesDeps, RestingSessions, type RestingSession } from "./resting-sessions.ts";
import { type Rewind, type RewindGoal, type RewindRequest, rewindTo } from "./rewind.ts";

export interface SessionDiff {
  readonly files: readonly FileChange[];
  /** On request, the changes step by step: what each call, or each group of overlapping calls, may have changed. */
  readonly steps: readonly ChangeStep[];
}

export interface PatchRequest extends TimeRange {
  /** Relative to the workspace. */
  readonly path?: string | undefined;
}

export interface DiffRequest extends TimeRange {
  /** Also return the steps, which reads every checkpoint. */
  readonly byCall?: boolean;
}

/** The files of sessions: what changed, and how to export, apply or undo it. Rejects while the session is working. */
export class Files {
  readonly #deps: FilesDeps;
  readonly #resting: RestingSessions;

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.#resting = new RestingSessions(deps);
  }

  /** Oldest first. */
  async checkpoints(sessionId: string): Promise<readonly Checkpoint[]> {
    return checkpointsIn(await this.#events(sessionId));
  }

  /** The changes, by default from the session's start until now. Also works while the session is running. */
  async diff(
    sessionId: string,
    { byCall = false, ...range }: DiffRequest = {},
    limits?: WorkLimits,
  ): Promise<SessionDiff> {
    const events = await this.#events(sessionId);
    const all = checkpointsIn(events);
    if (all.length === 0) return { files: [], steps: [] };
    const request = await this.#request(sessionId, events, { ...range, limits });
    const files = await request.workspace.diff(await changedRange(request));
    return { files, steps: byCall ? await changedSteps(request) : [] };
  }

  /** The changes as a patch that git can apply; with `path`, of that file only. */
  async patch(sessionId: string, { path, ...range }: PatchRequest = {}, limits?: WorkLimits): Promise<Buffer> {
    const events = await this.#events(sessionId);
    if (checkpointsIn(events).length === 0) return Buffer.alloc(0);
    const request = await this.#request(sessionId, events, { ...range, limits });
    return request.workspace.patch(await changedRange(request), path);
  }

  /**
   * Restores the files to a checkpoint; in place, only the files that the session changed since. Rejects with
   * `workspace_conflict`, naming the files, if someone else has changed them since.
   */
  async rewind(
    sessionId: string,
    { to, conversation = false, dryRun = false, overwrite = false }: RewindRequest,
  ): Promise<Rewind> {
    const events = await this.#events(sessionId);
    const checkpoint = pointIn(events, to);
    const since = (log: readonly StoredEvent[]): readonly OwnStep[] => stepsSince(log, checkpoint.seq);
    if (dryRun) {
      const { workspace, isShared } = await this.#look(sessionId);
      const goal = isShared ? await workspace.takenBack(since(events)) : { commit: checkpoint.commit, conflicts: [] };
      const files = reverseChanges(await workspace.diff({ from: goal.commit }));
      return { checkpoint, files, conflicts: goal.conflicts };
    }
    const toSeq = conversation ? checkpoint.conversation : undefined;
    return this.#rewind(sessionId, checkpoint, { target: checkpoint, since, toSeq, overwrite });
  }

  /** Undoes the last rewind, including that of the conversation. */
  async undoRewind(sessionId: string, { overwrite = false }: Pick<RewindRequest, "overwrite"> = {}): Promise<Rewind> {
    const events = await this.#events(sessionId);
    // Includes a rewind that was abandoned halfway.
    const started = lastOf(events, "capstan.rewind_started");
    const checkpoint = started && checkpointsIn(events).find(({ id }) => id === started.event.undo_checkpoint_id);
    if (started === undefined || checkpoint === undefined)
      throw new CapstanError(
        "not_found",
        `The files of session ${sessionId} have not been rewound, so there is nothing to undo.`,
      );
    const { rewind_id, commit: goal, undo_commit: commit, to_seq } = started.event;
    const done = lastOf(events, "capstan.rewound")?.event.rewind_id === rewind_id;
    const toSeq = done && to_seq !== undefined ? started.seq - 1 : undefined;
    const half = done ? [] : [{ from: commit, to: goal, unsure: false }];
    const since = (log: readonly StoredEvent[]): readonly OwnStep[] => [...half, ...stepsSince(log, started.seq)];
    return this.#rewind(sessionId, checkpoint, { target: { id: checkpoint.id, commit }, since, toSeq, overwrite });
  }

  /** Saves all changes since the session's start as a patch. They count as exported once `save` resolves. */
  async exportPatch(
    sessionId: string,
    target: string,
    save: (patch: Buffer) => Promise<void> = async () => {},
    limits?: WorkLimits,
  ): Promise<Buffer> {
    const asked = { how: "patch", target: () => target, limits } as const;
    return this.#export(sessionId, asked, async ({ workspace }, { from, to }) => {
      const patch = await workspace.patch({ from, to });
      if (patch.length === 0)
        throw new CapstanError(
          "not_found",
          `Nothing to export: the files of session ${sessionId} have not changed since its start.`,
        );
      await save(patch);
      return patch;
    });
  }

  /** Saves the current files as a zip file. */
  async exportZip(sessionId: string, file: string, limits?: WorkLimits): Promise<void> {
    await this.#export(sessionId, { how: "zip", target: () => file, limits }, ({ workspace }, { now }) =>
      workspace.exportZip(now, file),
    );
  }

  /**
   * Commits the changes to a branch of the source repository. If files were skipped, the changes do not count as
   * exported.
   */
  async exportBranch(
    sessionId: string,
    { branch, message }: { readonly branch?: string; readonly message?: string } = {},
  ): Promise<BranchExport> {
    return this.#export(sessionId, { how: "branch", target: branchOf, isDone: isWhole }, (resting, { from, to }) => {
      const { workspace, log, record } = resting;
      const prepared = log.state.files.workspace;
      return workspace.exportBranch({
        from,
        to,
        branch: branch ?? prepared?.branch ?? `capstan/${record.id}`,
        base: prepared?.base,
        message: message ?? `Changes of session ${record.id}`,
        mounts: prepared?.mounts ?? [],
      });
    });
  }

  /** Writes the changes to the source. If there are conflicts, it writes nothing. */
  async apply(sessionId: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<ApplyOutcome> {
    const isDone = ({ conflicts }: ApplyOutcome): boolean => !dryRun && conflicts.length === 0;
    return this.#export(sessionId, { how: "apply", target: toSource, isDone }, async (resting, { from, to }) => {
      const { workspace, log, record } = resting;
      requireSource(record);
      const mounts = log.state.files.workspace?.mounts ?? [];
      // No session may be working in the directories it writes to.
      const occupancy = new Occupancy({ ...resting, store: this.#deps.store, isGone: this.#deps.isGone });
      if (!dryRun) await occupancy.takeNow([record.source, ...mounts.map(({ source }) => source)]);
      try {
        return await workspace.apply({ from, to, mounts, dryRun });
      } finally {
        await occupancy.release();
      }
    });
  }

  async #look(sessionId: string, limits?: WorkLimits): Promise<Pick<ChangeRequest, "workspace" | "isShared">> {
    const { workspace, record } = await this.#resting.look(sessionId, limits);
    return { workspace, isShared: isShared(record) };
  }

  async #request(
    sessionId: string,
    events: readonly StoredEvent[],
    { from, to, limits }: TimeRange & { readonly limits: WorkLimits | undefined },
  ): Promise<ChangeRequest> {
    return {
      ...(await this.#look(sessionId, limits)),
      events,
      from: pointIn(events, from ?? "start"),
      to: to === undefined ? undefined : pointIn(events, to),
    };
  }

  #rewind(
    sessionId: string,
    checkpoint: Checkpoint,
    { since, ...goal }: Omit<RewindGoal, "steps"> & { since: (events: readonly StoredEvent[]) => readonly OwnStep[] },
  ): Promise<Rewind> {
    return this.#resting.use(sessionId, "rewind", async (resting) => {
      const steps = isShared(resting.record) ? since(await this.#events(sessionId)) : undefined;
      const undo = await rewindTo(resting, { ...goal, steps });
      const { workspace, log } = resting;
      const files = await workspace.diff({ from: undo.commit, to: log.state.files.last?.commit });
      return { checkpoint, files, conflicts: [], undoCheckpointId: undo.id };
    });
  }

  async #export<Result>(
    sessionId: string,
    {
      how,
      target,
      isDone = () => true,
      limits,
    }: {
      how: EventOf<"capstan.workspace_exported">["how"];
      target: (result: Result, source: string) => string;
      isDone?: (result: Result) => boolean;
      limits?: WorkLimits | undefined;
    },
    work: (resting: RestingSession, range: { from: string; to: string; now: string }) => Promise<Result>,
  ): Promise<Result> {
    return this.#resting.use(sessionId, "export", async (resting) => {
      const { log, checkpoints, record } = resting;
      // The checkpoint must contain every file, but the limits apply to the export.
      const { workspace } = limits === undefined ? resting : await this.#look(sessionId, limits);
      const { start } = log.state.files;
      if (start === undefined)
        throw new CapstanError(
          "not_found",
          `Session ${sessionId} has no checkpoint: it has changed no files, or checkpoints failed. There is nothing to export.`,
        );
      const now = await checkpoints.take({ reason: "request" });
      const events = await this.#events(sessionId);
      const own = isShared(record)
        ? await workspace.ownChanges(ownSteps(events))
        : { from: start.commit, to: now.commit };
      const result = await work({ ...resting, workspace }, { ...own, now: now.commit });
      if (isDone(result))
        await log.append([
          { type: "capstan.workspace_exported", how, commit: now.commit, target: target(result, record.source) },
        ]);
      return result;
    });
  }

  async #events(sessionId: string): Promise<readonly StoredEvent[]> {
    await this.#resting.require(sessionId);
    return fileEvents(this.#deps.store, sessionId);
  }
}

/** Whether others work in the directory as well. All other kinds of workspace belong to the session alone. */
function isShared({ environment }: SessionRecord): boolean {
  return environment.workspace.kind === "in-place";
}

function branchOf({ branch }: BranchExport): string {
  return branch;
}

function isWhole({ skipped }: BranchExport): boolean {
  return skipped.length === 0;
}

function toSource(_: ApplyOutcome, source: string): string {
  return source;
}

function lastOf<T extends StoredEvent["event"]["type"]>(
  events: readonly StoredEvent[],
  type: T,
): { readonly seq: number; readonly event: EventOf<T> } | undefined {
  const found = events.findLast(({ event }) => event.type === type);
  return found && { seq: found.seq, event: found.event as EventOf<T> };
}
