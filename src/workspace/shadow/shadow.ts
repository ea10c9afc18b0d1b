import { join } from "node:path";
import type { CheckpointSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type {
  ApplyOutcome,
  ApplyRequest,
  BranchExport,
  BranchRequest,
  FileChange,
  LeftOut,
  TakenCheckpoint,
  WorkLimits,
  Workspace,
  WorkspaceLocation,
} from "../../core/ports/workspace.ts";
import type { CheckpointRange, OwnStep } from "../../core/session/checkpoint-list.ts";
import { diskFailure } from "../disk-failure.ts";
import { applyChanges } from "./apply/apply.ts";
import { contentChanges, countChanges, listChanges, onlyModes, patchOf } from "./changes/changes.ts";
import {
  type CheckpointCommit,
  commitAside,
  commitFiles,
  type FileState,
  readCheckpoint,
  REF,
} from "./checkpoint-commit.ts";
import { exportBranch } from "./apply/export-branch.ts";
import { exportZip } from "./apply/export-zip.ts";
import { checkpointFailure } from "./failure.ts";
import { lstat } from "./changes/inspect.ts";
import { type PartlyKnown, withoutUnknown } from "./changes/left-out.ts";
import { type Look, look } from "./look.ts";
import { NO_MODES, sameModes } from "./changes/modes.ts";
import { type OwnIndex, ownIndex, throwAwayIndex } from "./own-index.ts";
import { writeRef } from "./objects.ts";
import { type CommitStep, commitOwn, commitTakenBack } from "./own/changes.ts";
import { pathOnDisk, bytePathText } from "./paths.ts";
import { EMPTY_TREE, type ShadowRepository, shadowRepository } from "./repository.ts";
import { changedSince, restoreFiles } from "./restore.ts";

interface ShadowRequest {
  /** The session's directory below Capstan's home, next to those of other sessions. */
  readonly directory: string;
  readonly settings: CheckpointSettings;
  readonly limits?: WorkLimits | undefined;
}

/**
 * Checkpoints in Capstan's own git repository, separate from the workspace. The user's repository is neither read nor
 * written. Not saved: every `.git`, empty directories, permissions of directories, owners and times.
 */
export function openShadow(place: WorkspaceLocation, request: ShadowRequest): Workspace {
  return new Shadow(place, request);
}

const NOTHING: PartlyKnown = { tree: EMPTY_TREE, modes: NO_MODES, leftOut: [] };

class Shadow implements Workspace {
  readonly #place: WorkspaceLocation;
  readonly #directory: string;
  readonly #settings: CheckpointSettings;
  readonly #repository: ShadowRepository;
  #index: OwnIndex | undefined;
  /** The last checkpoint. The index is never newer, except until the next one is saved. */
  #tip: CheckpointCommit | undefined;
  /** The content of the index. */
  #indexed: { readonly tree: string | undefined; readonly modes: FileState["modes"] } = {
    tree: undefined,
    modes: NO_MODES,
  };

  constructor(place: WorkspaceLocation, { directory, settings, limits }: ShadowRequest) {
    this.#place = place;
    this.#directory = directory;
    this.#settings = settings;
    this.#repository = shadowRepository({ directory, workTree: place.cwd, exclude: settings.exclude, limits });
  }

  async checkpoint(last: string | undefined): Promise<TakenCheckpoint | undefined> {
    try {
      const now = await this.#lookNow();
      const { leftOut } = now;
      const before = await this.#find(last);
      const paths = leftOut.map(({ path }) => path);
      // Compare what was left out too: a deleted file that is back, but too large, must not look deleted.
      if (before !== undefined && same(before, now) && sameNames(before.leftOut, paths)) {
        // So that the next host need not recheck what only looked like a change.
        if (now.updated && this.#tip !== undefined && same(this.#tip, now)) await this.#index?.publish();
        return undefined;
      }
      const [stored, counts] = await Promise.all([
        this.#store(now, paths),
        countChanges(this.#repository, before ?? NOTHING, now),
      ]);
      return { commit: stored.commit, ...counts, leftOut: leftOut.map(toLeftOut) };
    } catch (thrown) {
      throw checkpointFailure(thrown, this.#place.cwd);
    }
  }

  async leftOut(since: number): Promise<readonly LeftOut[]> {
    try {
      const { leftOut } = await this.#lookNow();
      const changedAt = (path: string): number => lstat(pathOnDisk(this.#place.cwd, path))?.ctimeMs ?? 0;
      return leftOut.filter(({ path }) => Math.floor(changedAt(path)) > since).map(toLeftOut);
    } catch (thrown) {
      throw checkpointFailure(thrown, this.#place.cwd);
    }
  }

  async diff(range: CheckpointRange): Promise<readonly FileChange[]> {
    return this.#compare(range, (from, to) => listChanges(this.#repository, from, to));
  }

  async patch(range: CheckpointRange, path?: string): Promise<Buffer> {
    return this.#compare(range, (from, to) => patchOf(this.#repository, from, to, path));
  }

  async restore(commit: string, current: string): Promise<void> {
    await this.#explainErrors("Restoring", () => this.#restore(commit, current));
  }

  async #restore(commit: string, current: string): Promise<void> {
    const [to, from] = [await this.#requireCheckpoint(commit), await this.#requireCheckpoint(current)];
    const now = await this.#lookNow();
    if (!same(from, now)) {
      const contents = await contentChanges(this.#repository, from, now);
      throw changedSince([...contents.map(({ path }) => path), ...onlyModes(from, now, contents)]);
    }
    const { file } = await this.#ownIndex();
    // Until this is done, the index is unreliable; after a failure, the next look starts from the last published one.
    const leftOut = now.leftOut.map(({ path }) => path);
    const request = { index: file, from: { ...from, leftOut }, to };
    const restored = await restoreFiles(this.#repository, request).catch((thrown: unknown) => {
      this.#index = undefined;
      throw thrown;
    });
    this.#indexed = restored;
    await this.#store(restored, leftOut);
  }

  async ownChanges(steps: readonly OwnStep[]): ReturnType<Workspace["ownChanges"]> {
    return commitOwn(this.#repository, await this.#whole(steps));
  }

  async takenBack(steps: readonly OwnStep[], current?: string): ReturnType<Workspace["takenBack"]> {
    const taken = await commitTakenBack(this.#repository, await this.#whole(steps), current ?? (await this.#aside()));
    // No checkpoint refers to it, and an interrupted rewind needs it later.
    await writeRef(this.#repository.path, `refs/capstan/rewinds/${taken.commit}`, taken.commit);
    return taken;
  }

  async #whole(steps: readonly OwnStep[]): Promise<readonly CommitStep[]> {
    const isOpen = steps.some(({ to }) => to === undefined);
    const now = isOpen ? await this.#aside() : "";
    return steps.map(({ from, to = now, unsure }) => ({ from, to, unsure }));
  }

  async adopt(commit: string, from: WorkspaceLocation): Promise<void> {
    await this.#repository.prepare();
    if ((await readCheckpoint(this.#repository, commit)) !== undefined) return;
    const other = join(this.#directory, "..", from.sessionId, "checkpoints.git");
    // Under a separate name: this session's chain continues where it is.
    const refspec = `${commit}:refs/capstan/adopted/${commit}`;
    const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
    await this.#repository.git(["fetch", ...options, other, refspec], { protocols: "file" });
  }

  async exportZip(commit: string, file: string): Promise<void> {
    await exportZip(this.#repository, await this.#requireCheckpoint(commit), file);
  }

  async exportBranch({ from, to, ...request }: BranchRequest): Promise<BranchExport> {
    const range = { from: await this.#requireCheckpoint(from), to: await this.#requireCheckpoint(to) };
    return this.#explainErrors("Exporting", () =>
      exportBranch(this.#repository, { ...request, ...range, place: this.#place, directory: this.#directory }),
    );
  }

  async apply({ from, to, ...request }: ApplyRequest): Promise<ApplyOutcome> {
    const range = { from: await this.#requireCheckpoint(from), to: await this.#requireCheckpoint(to) };
    return this.#explainErrors("Applying", () =>
      applyChanges(this.#repository, { ...request, ...range, place: this.#place }),
    );
  }

  /** Adds causes and remedies to file system errors. */
  async #explainErrors<Result>(doing: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw diskFailure(thrown, doing, this.#place.cwd);
    }
  }

  /** This host's index, ready to use. If another host has worked here since, everything is read again. */
  async #ownIndex(): Promise<OwnIndex> {
    if (this.#index?.isThere() === true) return this.#index;
    const changedRules = await this.#repository.prepare();
    const index = await ownIndex(this.#repository.path, { fresh: changedRules });
    // After the index: it is never newer than the last checkpoint, so anything it lacks is found as changed.
    this.#tip = await readCheckpoint(this.#repository, REF);
    this.#indexed = { tree: undefined, modes: this.#tip?.modes ?? NO_MODES };
    this.#index = index;
    return index;
  }

  async #lookNow(): ReturnType<typeof look> {
    const { file } = await this.#ownIndex();
    const now = await look(this.#repository, {
      index: file,
      base: this.#indexed,
      settings: this.#settings,
      leftOut: this.#tip?.leftOut ?? [],
    });
    this.#indexed = { tree: now.tree, modes: now.modes };
    return now;
  }

  async #store(now: FileState, leftOut: readonly string[]): Promise<CheckpointCommit> {
    const index = await this.#ownIndex();
    if (this.#tip === undefined || !same(this.#tip, now) || !sameNames(this.#tip.leftOut, leftOut))
      this.#tip = await commitFiles(
        this.#repository,
        { tree: now.tree, modes: now.modes },
        { parent: this.#tip, leftOut },
      );
    await index.publish();
    return this.#tip;
  }

  async #compare<Result>(
    { from, to }: CheckpointRange,
    read: (from: FileState, to: FileState) => Promise<Result>,
  ): Promise<Result> {
    const start = await this.#requireCheckpoint(from);
    const end = await (to === undefined ? this.#lookAside() : this.#requireCheckpoint(to));
    return read(start, (await withoutUnknown(this.#repository, start, end)).files);
  }

  /** The current state, without the index for checkpoints: one may be in progress. */
  async #lookAside(): Promise<PartlyKnown> {
    try {
      await using index = await throwAwayIndex(this.#repository.path);
      const { modes, leftOut } = (await readCheckpoint(this.#repository, REF)) ?? NOTHING;
      const base = { tree: undefined, modes };
      const request = { index: index.file, base, settings: this.#settings, leftOut };
      const now = await look(this.#repository, request);
      return { ...now, leftOut: now.leftOut.map(({ path }) => path) };
    } catch (thrown) {
      throw checkpointFailure(thrown, this.#place.cwd);
    }
  }

  async #aside(): Promise<string> {
    const { leftOut, ...now } = await this.#lookAside();
    return commitAside(this.#repository, now, leftOut);
  }

  async #find(commit: string | undefined): Promise<CheckpointCommit | undefined> {
    if (commit === undefined || commit === this.#tip?.commit) return commit === undefined ? undefined : this.#tip;
    return readCheckpoint(this.#repository, commit);
  }

  async #requireCheckpoint(commit: string): Promise<CheckpointCommit> {
    const found = await this.#find(commit);
    if (found !== undefined) return found;
    throw new CapstanError("workspace_invalid", `Checkpoint ${commit} of this workspace does not exist.`, {
      data: { commit },
    });
  }
}

function toLeftOut({ path, why }: Look["leftOut"][number]): LeftOut {
  return { path: bytePathText(path), why };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).symmetricDifference(new Set(b)).size === 0;
}

function same(a: FileState, b: FileState): boolean {
  return a.tree === b.tree && sameModes(a.modes, b.modes);
}
