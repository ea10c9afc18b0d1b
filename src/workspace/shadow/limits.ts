import type { CheckpointSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import { indexSizes } from "./index-file.ts";
import type { Scan } from "./scan.ts";

/** Checks the limits by names and sizes alone, before anything is read or written. */
export async function refuseTooMuch(index: string, found: Scan, settings: CheckpointSettings): Promise<void> {
  const again = new Set(found.changed.map(({ path }) => path));
  const files = found.entries - found.gone.filter((path) => !again.has(path)).length + found.added;
  if (files > settings.max_files) throw tooMuch("files", files, settings.max_files);
  // An upper bound, as if all changes were new; the index is read again only if it exceeds the limit.
  const most = found.changed.reduce((sum, { size }) => sum + size, found.bytes);
  if (most <= settings.max_bytes) return;
  const sizes = new Map(await indexSizes(index));
  for (const path of found.gone) sizes.delete(path);
  for (const { path, size } of found.changed) sizes.set(path, size);
  const bytes = sizes.values().reduce((sum, size) => sum + size, 0);
  if (bytes > settings.max_bytes) throw tooMuch("bytes", bytes, settings.max_bytes);
}

function tooMuch(what: "files" | "bytes", found: number, limit: number): CapstanError {
  return new CapstanError(
    "checkpoint_failed",
    `The workspace has ${found} ${what}, but checkpoints.max_${what} is ${limit}. Add files that need no checkpoint to checkpoints.exclude, or raise checkpoints.max_${what}.`,
    { data: { found, limit, field: `checkpoints.max_${what}` } },
  );
}
