import { CapstanError } from "../../../core/errors.ts";
import type { AppliedChange, ApplyOutcome, ApplyRequest, WorkspaceLocation } from "../../../core/ports/workspace.ts";
import { planChange, type ApplyStep } from "./apply-plan.ts";
import { stepNow } from "./apply-step.ts";
import type { CheckpointCommit } from "../checkpoint-commit.ts";
import { hostMap } from "../host-entry.ts";
import { withoutUnknown } from "../changes/left-out.ts";
import { listPaths, bytePathText } from "../paths.ts";
import type { ShadowRepository } from "../repository.ts";
import { versionChanges } from "../changes/versions.ts";

interface ApplyTask extends Omit<ApplyRequest, "from" | "to"> {
  readonly place: WorkspaceLocation;
  readonly from: CheckpointCommit;
  readonly to: CheckpointCommit;
}

/**
 * Checks everything before it writes anything. A crash leaves each file either written or unchanged; a retry skips
 * those already written and writes the rest.
 */
export async function applyChanges(repository: ShadowRepository, task: ApplyTask): Promise<ApplyOutcome> {
  const { place, from, to, mounts, dryRun } = task;
  if (place.kind === "in-place")
    throw new CapstanError("workspace_invalid", "The session works in place, so there is nothing to apply.");
  const where = hostMap(mounts, place.source);
  const { files, unknown } = await withoutUnknown(repository, from, to);
  const changes = (await versionChanges(repository, from, files)).map((change) => ({
    ...change,
    host: where(change.path),
  }));
  const removed = new Set(
    changes.flatMap(({ after, host }) =>
      host === undefined || host.readOnly || after !== undefined ? [] : hostKey(host.root, host.path),
    ),
  );
  const steps: ApplyStep[] = [];
  const conflicts: ApplyOutcome["conflicts"][number][] = unknown.map((path) => ({
    path: bytePathText(path),
    why: "it is no longer in any checkpoint (too large, not readable or not a file), so its content is unknown",
  }));
  for (const change of changes) {
    const planned = await planChange(repository, change, (root, path) => removed.has(hostKey(root, path)));
    if (typeof planned === "string") conflicts.push({ path: bytePathText(change.path), why: planned });
    else steps.push(planned);
  }
  if (conflicts.length > 0) return { applied: [], conflicts };
  if (!dryRun) await perform(repository, steps);
  return { applied: steps.map(outcome), conflicts };
}

function hostKey(root: string, path: string): string {
  return `${root}\0${path}`;
}

function outcome({ file, how }: ApplyStep): AppliedChange {
  return { path: file.toString("utf8"), how };
}

/** Deletions first: they make room for new files. */
async function perform(repository: ShadowRepository, steps: readonly ApplyStep[]): Promise<void> {
  const ordered = [
    ...steps.filter(({ how }) => how === "deleted"),
    ...steps.filter(({ how }) => how === "written" || how === "merged"),
  ];
  for (const [position, step] of ordered.entries())
    try {
      await stepNow(repository, step);
    } catch (thrown) {
      throw applyFailure(thrown, ordered, position);
    }
}

function applyFailure(thrown: unknown, steps: readonly ApplyStep[], position: number): CapstanError {
  const names = steps.map((step) => outcome(step).path);
  const [applied, notApplied] = [names.slice(0, position), names.slice(position)];
  const why = thrown instanceof Error ? thrown.message : "an error occurred";
  const done = applied.length === 0 ? "Nothing was applied" : `Applied: ${listPaths(applied)}`;
  return new CapstanError(
    thrown instanceof CapstanError ? thrown.code : "workspace_failed",
    `${why} ${done}. Not applied: ${listPaths(notApplied)}. Check the cause and retry: files that were applied are skipped.`,
    { cause: thrown, data: { applied, notApplied } },
  );
}
