import { statSync } from "node:fs";
import { CapstanError } from "../core/errors.ts";

/** The operating system would report a missing directory as a missing executable. */
export function requireDirectory(cwd: string): void {
  const stats = statSync(cwd, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const problem = stats === undefined ? "does not exist" : "is not a directory";
  throw new CapstanError(
    "cwd_missing",
    `The working directory ${cwd} ${problem}. Create it, or start the session in another directory.`,
    {
      data: { cwd },
    },
  );
}
