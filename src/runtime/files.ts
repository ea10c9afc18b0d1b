import type { Checkpoint } from "../core/checkpoint-list.ts";
import { checkpointsIn } from "../core/checkpoint-list.ts";
import { CapstanError } from "../core/errors.ts";
import type { EventOf, StoredEvent } from "../core/events.ts";
import type { SessionRecord } from "../core/store.ts";
import type { ApplyOutcome, BranchExport, FileChange } from "../core/workspace.ts";
import { changedSteps, type ChangeStep, pointIn, type TimeRange } from "./change-steps.ts";
import { wholeLog } from "./logs/whole-log.ts";
import { Occupancy } from "./occupancy.ts";
import { type FilesDeps, RestingSessions, type RestingSession } from "./resting-sessions.ts";
import { rewindTo } from "./rewind.ts";

export interface SessionDiff {
  readonly files: readonly FileChange[];
  /** When asked for, the same step by step: what each call, or each group of calls that overlapped, may have changed. */
  readonly steps: readonly ChangeStep[];
}

export interface PatchRequest extends TimeRange {
  /** Relative to the workspace. */
  readonly path?: string | undefined;
}

export interface DiffRequest extends TimeRange {
  /** Also step by step, which takes a look at each checkpoint. */
  readonly byCall?: boolean;
}

export interface RewindRequest {
  /** `start`, `turn` for the beginning of the last turn, or a checkpoint's id or the end of one. */
  readonly to: string;
  /** The conversation goes back as well, to the end of the last turn before the checkpoint. */
  readonly conversation?: boolean;
  /** Only tell what would change. */
  readonly dryRun?: boolean;
}

export interface Rewind {
  readonly checkpoint: Checkpoint;
  /** What it changes in the files, or would. */
  readonly files: readonly FileChange[];
  /** A checkpoint of what was there; absent for a dry run. */
  readonly undoCheckpointId?: string;
}

/** The files of sessions: what changed, and ways to take it or undo it. Sessions that work just now are refused. */
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

  /** What changed, by default since the session's start until now. May be asked while the session works. */
  async diff(sessionId: string, { byCall = false, ...range }: DiffRequest = {}): Promise<SessionDiff> {
    const events = await this.#events(sessionId);
    const all = checkpointsIn(events);
    if (all.length === 0) return { files: [], steps: [] };
    const { workspace } = await this.#resting.look(sessionId);
    const from = pointIn(events, range.from ?? "start");
    const to = range.to === undefined ? undefined : pointIn(events, range.to);
    const files = await workspace.diff({ from: from.commit, to: to?.commit });
    return { files, steps: byCall ? await changedSteps({ events, workspace, from, to }) : [] };
  }

  /** The same as a patch that git can apply; with `path` only what changed in that file. */
  async patch(sessionId: string, { path, ...range }: PatchRequest = {}): Promise<Buffer> {
    const events = await this.#events(sessionId);
    if (checkpointsIn(events).length === 0) return Buffer.alloc(0);
    const { workspace } = await this.#resting.look(sessionId);
    const to = range.to === undefined ? undefined : pointIn(events, range.to).commit;
    return workspace.patch({ from: pointIn(events, range.from ?? "start").commit, to }, path);
  }

  /** Brings the files to a checkpoint. Rejects when they cannot be brought back from there again. */
  async rewind(sessionId: string, { to, conversation = false, dryRun = false }: RewindRequest): Promise<Rewind> {
    const events = await this.#events(sessionId);
    const checkpoint = pointIn(events, to);
    if (dryRun) {
      const { workspace } = await this.#resting.look(sessionId);
      return { checkpoint, files: reversed(await workspace.diff({ from: checkpoint.commit })) };
    }
    return this.#resting.use(sessionId, "rewind", async (resting) =>
      this.#rewind(resting, { checkpoint, toSeq: conversation ? checkpoint.conversation : undefined }),
    );
  }

  /** Takes the last rewind back, of the conversation too when it went back. */
  async undoRewind(sessionId: string): Promise<Rewind> {
    const events = await this.#events(sessionId);
    // Also one that was given up half-way.
    const started = lastOf(events, "capstan.rewind_started");
    const checkpoint = started && checkpointsIn(events).find(({ id }) => id === started.event.undo_checkpoint_id);
    if (started === undefined || checkpoint === undefined)
      throw new CapstanError("not_found", `The files of ${sessionId} were never rewound.`);
    const done = lastOf(events, "capstan.rewound")?.event.rewind_id === started.event.rewind_id;
    const toSeq = done && started.event.to_seq !== undefined ? started.seq - 1 : undefined;
    return this.#resting.use(sessionId, "rewind", (resting) => this.#rewind(resting, { checkpoint, toSeq }));
  }

  /** The whole change since the session's start as a patch. It counts as taken out when `save` has resolved. */
  async exportPatch(
    sessionId: string,
    target: string,
    save: (patch: Buffer) => Promise<void> = async () => {},
  ): Promise<Buffer> {
    return this.#export(sessionId, { how: "patch", target: () => target }, async ({ workspace }, { from, to }) => {
      const patch = await workspace.patch({ from, to });
      if (patch.length === 0)
        throw new CapstanError(
          "not_found",
          `There is nothing to export: no file of session ${sessionId} has other contents than at its start.`,
        );
      await save(patch);
      return patch;
    });
  }

  /** The files as they are, as a zip file. */
  async exportZip(sessionId: string, file: string): Promise<void> {
    await this.#export(sessionId, { how: "zip", target: () => file }, ({ workspace }, { to }) =>
      workspace.exportZip(to, file),
    );
  }

  /** Commits what changed to a branch of the repository that the files came from. With files skipped not all is taken out. */
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

  /** Writes what changed back to where the files came from. With conflicts nothing is written. */
  async apply(sessionId: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<ApplyOutcome> {
    const isDone = ({ conflicts }: ApplyOutcome): boolean => !dryRun && conflicts.length === 0;
    return this.#export(sessionId, { how: "apply", target: toSource, isDone }, async (resting, { from, to }) => {
      const { workspace, log, record } = resting;
      requireSource(record);
      const mounts = log.state.files.workspace?.mounts ?? [];
      // Nobody works in the directories that are written to.
      const occupancy = new Occupancy({ ...resting, store: this.#deps.store, isGone: this.#deps.isGone });
      if (!dryRun) await occupancy.takeNow([record.source, ...mounts.map(({ source }) => source)]);
      try {
        return await workspace.apply({ from, to, mounts, dryRun });
      } finally {
        await occupancy.release();
      }
    });
  }

  async #rewind(
    resting: RestingSession,
    { checkpoint, toSeq }: { checkpoint: Checkpoint; toSeq: number | undefined },
  ): Promise<Rewind> {
    const files = reversed(await resting.workspace.diff({ from: checkpoint.commit }));
    const undo = await rewindTo(resting, { target: checkpoint, toSeq });
    return { checkpoint, files, undoCheckpointId: undo.id };
  }

  async #export<Result>(
    sessionId: string,
    {
      how,
      target,
      isDone = () => true,
    }: {
      how: EventOf<"capstan.workspace_exported">["how"];
      target: (result: Result, source: string) => string;
      isDone?: (result: Result) => boolean;
    },
    work: (resting: RestingSession, range: { from: string; to: string }) => Promise<Result>,
  ): Promise<Result> {
    return this.#resting.use(sessionId, "export", async (resting) => {
      const { log, checkpoints, record } = resting;
      const { start } = log.state.files;
      if (start === undefined)
        throw new CapstanError(
          "not_found",
          `Session ${sessionId} has no checkpoint: it has changed no files, or none was taken. There is nothing to take.`,
        );
      const now = await checkpoints.take({ reason: "request" });
      const result = await work(resting, { from: start.commit, to: now.commit });
      if (isDone(result))
        await log.append([
          { type: "capstan.workspace_exported", how, commit: now.commit, target: target(result, record.source) },
        ]);
      return result;
    });
  }

  async #events(sessionId: string): Promise<readonly StoredEvent[]> {
    await this.#resting.require(sessionId);
    return wholeLog(this.#deps.store, sessionId);
  }
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

const OPPOSITE = { added: "deleted", deleted: "added", modified: "modified" } as const;

/** What must be done to get from the later state to the earlier one. */
function reversed(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.map(({ path, kind, insertions, deletions }) => ({
    path,
    kind: OPPOSITE[kind],
    ...(deletions !== undefined && { insertions: deletions }),
    ...(insertions !== undefined && { deletions: insertions }),
  }));
}

/** A workspace that started empty has no files of the host behind it. */
function requireSource({ id, cwd, source, environment }: SessionRecord): void {
  if (environment.workspace.kind === "in-place" || source !== cwd) return;
  throw new CapstanError(
    "workspace_invalid",
    `The workspace of session ${id} was made from nothing, so there is nowhere to apply its changes to. Take its files with: capstan export ${id} --zip <file>`,
  );
}
