import { existsSync } from "node:fs";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { diskFailure } from "../disk-failure.ts";

/** Converts a failed checkpoint to `checkpoint_failed`, with a remedy. Conflicts and the like stay unchanged. */
export function checkpointFailure(thrown: unknown, workTree: string): unknown {
  const cause = diskFailure(thrown, "Saving the files of", workTree);
  if (cause instanceof CapstanError && cause.code !== "workspace_failed") return cause;
  if (!existsSync(workTree))
    return new CapstanError("checkpoint_failed", `The workspace ${workTree} no longer exists. Restore it.`, {
      cause,
    });
  const data = cause instanceof CapstanError ? cause.data : {};
  return new CapstanError("checkpoint_failed", `The files could not be saved: ${messageOf(cause)}${advice(cause)}`, {
    cause,
    data,
    retryable: true,
  });
}

function advice(cause: unknown): string {
  const said = messageOf(cause);
  if (/Read-only file system/i.test(said)) return " The disk is read-only: set CAPSTAN_HOME to a writable directory.";
  if (/Permission denied/i.test(said))
    return " Make the files readable for this user, or add them to checkpoints.exclude.";
  return "";
}
