import type { CheckpointRange, OwnStep } from "../session/checkpoint-list.ts";
import type { CheckpointSettings, WorkspaceKind, WorkspaceSettings } from "../environment/environment.ts";

/**
 * The port for a session's files. One contract suite (test/contract/workspace.ts) specifies it for every kind. Methods
 * reject with a `workspace_*` or `checkpoint_failed` error of core/errors.ts; only `apply` and `exportBranch` change
 * files of the host outside the workspace.
 */
export interface Workspaces {
  /** Throws if the request is not valid, before anything is saved or created. */
  validate(request: WorkspaceRequest): Promise<void>;
  /** Creates the workspace. Removes it again if it rejects or `signal` aborts. */
  prepare(request: WorkspaceRequest, options?: PrepareOptions): Promise<PreparedWorkspace>;
  /**
   * Puts something into a workspace that the session owns, while its agent is idle. Rejects with `workspace_invalid` if
   * the path exists, or leads out of the workspace.
   */
  put(
    place: WorkspaceLocation,
    content: GivenContent,
    options?: Pick<PrepareOptions, "signal" | "hostAddresses">,
  ): Promise<void>;
  /**
   * Opens the files of a session whose workspace was prepared, by any process. One process at a time. `limits` apply to
   * everything done with the result, and are for reading only.
   */
  open(place: WorkspaceLocation, settings: CheckpointSettings, limits?: WorkLimits): Workspace;
  /** The workspace's size on disk, including checkpoints; files that the session does not own don't count. */
  size(place: WorkspaceLocation): Promise<number>;
  /**
   * Whether anyone created, changed or removed a file that the session owns after that time (milliseconds since the
   * epoch). The git directory of a worktree or a clone does not count.
   */
  changedSince(place: WorkspaceLocation, time: number): Promise<boolean>;
  /**
   * Removes the workspace and its checkpoints. Files of an in-place session stay. Does nothing if it no longer exists.
   */
  remove(place: WorkspaceLocation): Promise<void>;
  /** Ids of sessions that have files on this disk. */
  sessionIds(): Promise<readonly string[]>;
}

/** Limits for work with files on behalf of a client that may disconnect, next to other work. */
export interface WorkLimits {
  /** Ends the work. It rejects with the reason if that is a `CapstanError`. */
  readonly signal: AbortSignal;
  /** Bytes: a larger list or patch rejects with `too_large`, … */
  readonly maxBytes: number;
  /** … and so does a larger file that is written. */
  readonly maxFileBytes: number;
}

export interface WorkspaceRequest {
  readonly sessionId: string;
  /** The directory of the host that the session is started in. Absolute. */
  readonly source: string;
  readonly workspace: WorkspaceSettings;
}

/** `at`: its path, relative to the workspace. */
export type GivenContent =
  | { readonly kind: "file"; readonly path: string; readonly at: string }
  | {
      readonly kind: "repository";
      readonly url: string;
      /** For a repository that is not public. */
      readonly token?: string | undefined;
      /** A branch, a tag or a commit (default: what the repository has checked out). */
      readonly ref?: string | undefined;
      readonly at: string;
    };

export interface PrepareOptions {
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal;
  /** Verified addresses of repository hosts. Others are resolved. */
  readonly hostAddresses?: HostAddresses;
}

/** By `name:port`. */
export type HostAddresses = Readonly<Record<string, readonly string[]>>;

export interface CopyProgress {
  readonly files: number;
  readonly bytes: number;
  readonly totalFiles: number;
  readonly totalBytes: number;
}

/** Where a session's files are; kept in its record. */
export interface WorkspaceLocation {
  readonly sessionId: string;
  readonly kind: WorkspaceKind;
  /** Where the agent works: the root of the workspace. */
  readonly cwd: string;
  /** Where the files came from; `cwd` itself for a session that works in place. */
  readonly source: string;
}

export interface PreparedWorkspace {
  readonly cwd: string;
  /** Where the files came from: the target of `apply`. */
  readonly source: string;
  readonly mounts: readonly PreparedMount[];
  /** For worktrees and clones: the branch that was created, and the commit it starts from. */
  readonly branch?: string;
  readonly base?: string;
  /** Notes for people, such as that uncommitted changes were left behind; one sentence each. */
  readonly notes: readonly string[];
}

export interface PreparedMount {
  /** Absolute, links resolved. */
  readonly source: string;
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly target: string;
  readonly readOnly: boolean;
  readonly files: number;
  readonly bytes: number;
  /** Links, sockets and other entries that were left out. */
  readonly skipped: number;
}

/** The files of one session. Its methods must not run concurrently, except `diff` and `patch`. */
export interface Workspace {
  /** Saves the current files; undefined if nothing has changed since the checkpoint `last`. */
  checkpoint(last: string | undefined): Promise<TakenCheckpoint | undefined>;
  /** Files that a checkpoint taken now would not include, and that were created or changed after that time. */
  leftOut(since: number): Promise<readonly LeftOut[]>;
  /** The differences between two checkpoints, or between one and the current files; sorted by path. */
  diff(range: CheckpointRange): Promise<readonly FileChange[]>;
  /** The same as a patch that git can apply, including binary files; with `path`, only the changes of that file. */
  patch(range: CheckpointRange, path?: string): Promise<Buffer>;
  /**
   * Restores the files of a checkpoint. `current` is a checkpoint of the current files. Rejects with
   * `workspace_conflict`, before anything is changed, if it would overwrite files that no checkpoint has. May be
   * repeated after a crash.
   */
  restore(commit: string, current: string): Promise<void>;
  /**
   * Two states of the files that differ only in what these steps changed: each file before the first step, and after
   * the last. `diff`, `patch` and `exportBranch` accept them like checkpoints.
   */
  ownChanges(steps: readonly OwnStep[]): Promise<{ readonly from: string; readonly to: string }>;
  /**
   * The files of a checkpoint, or the current ones, without the changes of these steps; pass it to `restore`.
   * `conflicts` lists the files among them that someone else has, or may have, changed as well.
   */
  takenBack(
    steps: readonly OwnStep[],
    current?: string,
  ): Promise<{ readonly commit: string; readonly conflicts: readonly string[] }>;
  /** Imports a checkpoint of another workspace, so that `restore` can use it. */
  adopt(commit: string, from: WorkspaceLocation): Promise<void>;
  /** Exports the files of a checkpoint as a zip file. */
  exportZip(commit: string, file: string): Promise<void>;
  /**
   * Commits the changes between two checkpoints to a branch of the source repository, on top of `base`; ignored files
   * are left out. Touches only the branch. Rejects with `not_found` if there is nothing to commit.
   */
  exportBranch(request: BranchRequest): Promise<BranchExport>;
  /** Writes the changes back to the source, all or nothing. With `dryRun`, only reports what it would do. */
  apply(request: ApplyRequest): Promise<ApplyOutcome>;
}

export interface TakenCheckpoint {
  /** Valid as long as the workspace exists. */
  readonly commit: string;
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** Files that are not included, and why. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly path: string;
  readonly why: "too large" | "not readable" | "not a file" | "a name git cannot keep";
}

export interface FileChange {
  /** Relative to the workspace. Invalid UTF-8 is shown as U+FFFD. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted";
  /** Lines; absent for binary files. */
  readonly insertions?: number;
  readonly deletions?: number;
}

export interface BranchRequest {
  readonly from: string;
  readonly to: string;
  readonly branch: string;
  /** A commit of the repository (default: the one that is checked out). */
  readonly base?: string | undefined;
  readonly message: string;
  /** As of `ApplyRequest`. */
  readonly mounts?: ApplyRequest["mounts"];
}

export interface BranchExport {
  readonly branch: string;
  readonly commit: string;
  readonly repository: string;
  /**
   * Changed files that are not on the branch: git ignores them, they belong to a submodule, to a read-only mount or to
   * a mount outside the repository, or no checkpoint still has them.
   */
  readonly skipped: readonly string[];
}

export interface ApplyRequest {
  readonly from: string;
  readonly to: string;
  /** Of a copy: its mounts. Default: the workspace is its source. */
  readonly mounts: readonly Pick<PreparedMount, "source" | "target" | "readOnly">[];
  readonly dryRun: boolean;
}

export interface ApplyOutcome {
  readonly applied: readonly AppliedChange[];
  /** If there are any, nothing was applied. */
  readonly conflicts: readonly { readonly path: string; readonly why: string }[];
}

export interface AppliedChange {
  /** Absolute path of the host's file. */
  readonly path: string;
  /** `merged`: the host's file had changes in other places. `already`: it already had the change. */
  readonly how: "written" | "deleted" | "merged" | "already";
}
