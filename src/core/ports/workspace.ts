import type { CheckpointSettings, WorkspaceKind, WorkspaceSettings } from "../environment/environment.ts";

/**
 * The port for a session's files. One contract suite (test/contract/workspace.ts) says what it means for every kind.
 * Methods reject with a `workspace_*` or `checkpoint_failed` error of core/errors.ts; files of the host that are not in
 * the workspace are never changed, but by `apply` and `exportBranch`.
 */
export interface Workspaces {
  /** Throws, before anything is stored or made, what is wrong with the request. */
  validate(request: WorkspaceRequest): Promise<void>;
  /** Makes the workspace. What was made is removed again when it rejects or `signal` aborts. */
  prepare(request: WorkspaceRequest, options?: PrepareOptions): Promise<PreparedWorkspace>;
  /**
   * Puts something into a workspace that the session owns, while nothing of its agent works. Rejects with
   * `workspace_invalid` when something stands there, or when the path leads out.
   */
  put(
    place: WorkspacePlace,
    content: GivenContent,
    options?: Pick<PrepareOptions, "signal" | "hostAddresses">,
  ): Promise<void>;
  /**
   * The files of a session whose workspace was prepared, by any process. One process at a time. `limits` hold for
   * everything that is done with what is opened, and are for reading only.
   */
  open(place: WorkspacePlace, settings: CheckpointSettings, limits?: WorkLimits): Workspace;
  /** What a workspace takes up on disk, its checkpoints included; files that the session does not own count nothing. */
  size(place: WorkspacePlace): Promise<number>;
  /**
   * Whether a file that the session owns was made, changed or removed after that time (milliseconds since the epoch), by
   * whomever. What git keeps of a worktree or a clone does not count.
   */
  changedSince(place: WorkspacePlace, time: number): Promise<boolean>;
  /** Removes the workspace and its checkpoints. What a session works on in place stays. Nothing happens when it is gone. */
  remove(place: WorkspacePlace): Promise<void>;
  /** Ids of sessions that have something on this disk. */
  sessionIds(): Promise<readonly string[]>;
}

/** What work with files may take, when it is done for someone who may leave, and beside the work of others. */
export interface WorkLimits {
  /** Ends it. It rejects with the reason when that is a `CapstanError`. */
  readonly signal: AbortSignal;
  /** In bytes: a list or a patch that is larger rejects with `too_large`, … */
  readonly maxBytes: number;
  /** … and a file that is written too. */
  readonly maxFileBytes: number;
}

export interface WorkspaceRequest {
  readonly sessionId: string;
  /** The directory of the host that the session is started in. Absolute. */
  readonly source: string;
  readonly workspace: WorkspaceSettings;
}

/** `at`: where it is to stand, relative to the workspace. */
export type GivenContent =
  | { readonly kind: "file"; readonly path: string; readonly at: string }
  | {
      readonly kind: "repository";
      readonly url: string;
      /** For a repository that is not public. */
      readonly token?: string | undefined;
      /** A branch, a tag or a commit. Default: what the repository has checked out. */
      readonly ref?: string | undefined;
      readonly at: string;
    };

export interface PrepareOptions {
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal;
  /** Where hosts of repositories are, as somebody has checked. Others are looked up. */
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
export interface WorkspacePlace {
  readonly sessionId: string;
  readonly kind: WorkspaceKind;
  /** Where the agent works: the root of the workspace. */
  readonly cwd: string;
  /** Where the files came from; `cwd` itself for a session that works in place. */
  readonly source: string;
}

export interface PreparedWorkspace {
  readonly cwd: string;
  /** Where the files came from: what `apply` writes to. */
  readonly source: string;
  readonly mounts: readonly PreparedMount[];
  /** For worktrees and clones: the branch that was made, and the commit it starts from. */
  readonly branch?: string;
  readonly base?: string;
  /** What a person should know, such as that uncommitted changes were left behind; a sentence each. */
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
  /** Links, sockets and other things that were left out. */
  readonly skipped: number;
}

/** The files of one session. Its methods must not be called while another of them runs, but for `diff` and `patch`. */
export interface Workspace {
  /** Keeps the files as they are now; undefined when nothing has changed since the checkpoint `last`. */
  checkpoint(last: string | undefined): Promise<TakenCheckpoint | undefined>;
  /** What no checkpoint of now would have, of that what was made or changed after that time. */
  leftOut(since: number): Promise<readonly LeftOut[]>;
  /** What differs from one checkpoint to another, or to what is there now; sorted by path. */
  diff(range: CheckpointRange): Promise<readonly FileChange[]>;
  /** The same as a patch that git can apply, binary files included; with `path` only what changed in that file. */
  patch(range: CheckpointRange, path?: string): Promise<Buffer>;
  /**
   * Brings the files to a checkpoint. `current` is a checkpoint of what is there now. Rejects with `workspace_conflict`,
   * before anything is changed, when it would overwrite what no checkpoint has. May be repeated after a crash.
   */
  restore(commit: string, current: string): Promise<void>;
  /**
   * Two states of the files that differ in what these steps changed, and in nothing else: each file as it was before the
   * first of them, and after the last. `diff`, `patch` and `exportBranch` take them like checkpoints.
   */
  ownChanges(steps: readonly OwnStep[]): Promise<{ readonly from: string; readonly to: string }>;
  /**
   * The files as they are at a checkpoint, or now, but without what these steps changed; `restore` brings them there.
   * `conflicts` names the files among them that someone else has changed as well, or may have.
   */
  takenBack(
    steps: readonly OwnStep[],
    current?: string,
  ): Promise<{ readonly commit: string; readonly conflicts: readonly string[] }>;
  /** Takes over a checkpoint of another workspace, so that `restore` knows it. */
  adopt(commit: string, from: WorkspacePlace): Promise<void>;
  /** The files of a checkpoint as a zip file. */
  exportZip(commit: string, file: string): Promise<void>;
  /**
   * Commits the files that changed from one checkpoint to the other to a branch of the repository they came from, on
   * top of `base`; ignored files are left out. Only the branch is touched. Rejects with `not_found` when that leaves
   * nothing.
   */
  exportBranch(request: BranchRequest): Promise<BranchExport>;
  /** Writes what changed back to where the files came from, all or nothing. With `dryRun` only tells what it would do. */
  apply(request: ApplyRequest): Promise<ApplyOutcome>;
}

/** Work of the session: from one checkpoint to another, or to what is there now. */
export interface OwnStep extends CheckpointRange {
  /** The host died in it, so others may have changed files before it was over. */
  readonly unsure: boolean;
}

export interface TakenCheckpoint {
  /** Names it for as long as the workspace exists. */
  readonly commit: string;
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** What is not in it, and why. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly path: string;
  readonly why: "too large" | "not readable" | "not a file" | "a name git cannot keep";
}

export interface CheckpointRange {
  readonly from: string;
  /** Default: what is there now. */
  readonly to?: string | undefined;
}

export interface FileChange {
  /** Relative to the workspace. What is not UTF-8 in it is shown as U+FFFD. */
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
  /** A commit of the repository. Default: the one that is checked out there. */
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
   * Files that changed and are not on the branch: git ignores them there, they are of a submodule, of a read-only mount
   * or of one that lies elsewhere, or no checkpoint has them any more.
   */
  readonly skipped: readonly string[];
}

export interface ApplyRequest {
  readonly from: string;
  readonly to: string;
  /** Of a copy: what stands where. Default: the workspace is its source. */
  readonly mounts: readonly Pick<PreparedMount, "source" | "target" | "readOnly">[];
  readonly dryRun: boolean;
}

export interface ApplyOutcome {
  readonly applied: readonly AppliedChange[];
  /** When there are any, nothing was applied. */
  readonly conflicts: readonly { readonly path: string; readonly why: string }[];
}

export interface AppliedChange {
  /** Absolute: the file of the host. */
  readonly path: string;
  /** `merged`: the host's file had changed too, elsewhere. `already`: it was so before. */
  readonly how: "written" | "deleted" | "merged" | "already";
}
