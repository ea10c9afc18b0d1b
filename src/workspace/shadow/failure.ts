import { existsSync } from "node:fs";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { diskFailure } from "../disk-failure.ts";

/** Any failure on the way to a checkpoint as `checkpoint_failed`, with what to do. Conflicts and the like stay. */
export function checkpointFailure(thrown: unknown, workTree: string): unknown {
  const cause = diskFailure(thrown, "Keeping the files of", workTree);
  if (cause instanceof CapstanError && cause.code !== "workspace_failed") return cause;
  if (!existsSync(workTree))
    return new CapstanError("checkpoint_failed", `The workspace ${workTree} is not there any more. Put it back.`, {
      cause,
    });
  const data = cause instanceof CapstanError ? cause.data : {};
  return new CapstanError("checkpoint_failed", `The files could not be kept: ${messageOf(cause)}${advice(cause)}`, {
    cause,
    data,
    retryable: true,
  });
}

function advice(cause: unknown): string {
  const said = messageOf(cause);
  if (/Read-only file system/i.test(said))
    return " The disk can only be read: set CAPSTAN_HOME to one that can be written.";
  if (/Permission denied/i.test(said))
    return " Make the files readable for this user, or add them to checkpoints.exclude.";
  return "";
}
