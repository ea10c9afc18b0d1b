import type { CheckpointSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import { indexSizes } from "./index-file.ts";
import type { Scan } from "./scan.ts";

/** Before anything is read or written: what does not fit is found by the names and sizes alone. */
export async function refuseTooMuch(index: string, found: Scan, settings: CheckpointSettings): Promise<void> {
  const again = new Set(found.changed.map(({ path }) => path));
  const files = found.entries - found.gone.filter((path) => !again.has(path)).length + found.added;
  if (files > settings.max_files) throw tooMuch("files", files, settings.max_files);
  // No more than this, when all that changed is new; only when that is too much the index is read again.
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
    `The workspace has ${found} ${what}, and checkpoints.max_${what} is ${limit}. Add what need not be kept to checkpoints.exclude, or raise checkpoints.max_${what}.`,
    { data: { found, limit, field: `checkpoints.max_${what}` } },
  );
}
