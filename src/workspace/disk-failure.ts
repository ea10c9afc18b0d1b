import { CapstanError } from "../core/errors.ts";

/** What system error codes mean, and what to do. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Free some space and try again",
  EDQUOT: "your disk quota is used up. Free some space and try again",
  EFBIG: "the file is larger than this process may write. Raise the limit (ulimit -f), or exclude the file",
  EROFS: "the disk is read-only. Make it writable, or set CAPSTAN_HOME to a directory on another disk",
  EACCES: "permission is denied. Change its permissions or owner, or exclude it",
  EPERM: "the system does not permit it. Change its permissions or owner, or exclude it",
  EMFILE: "too many files are open. Raise the limit (ulimit -n) and try again",
  ENFILE: "too many files are open on this machine. Try again later",
  ENAMETOOLONG: "its path would be too long. Shorten it, or exclude it",
  EIO: "the disk reported an error. Check the disk",
  ENOENT: "it no longer exists. Leave the files alone until the workspace is created, and try again",
};

/** Makes a path readable, even with line breaks or bytes that are not text. */
export function printablePath(path: Buffer | string): string {
  const text = path.toString();
  return /[\p{Cc}\uFFFD]/u.test(text) ? JSON.stringify(text) : text;
}

/** Converts a file system error to `workspace_failed`; returns other errors unchanged. */
export function diskFailure(thrown: unknown, doing: string, path: Buffer | string): unknown {
  if (thrown instanceof CapstanError || !(thrown instanceof Error)) return thrown;
  if (thrown.name === "AbortError") return interruption(thrown);
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === undefined) return thrown;
  const cause = CAUSES[code] ?? `the system reports: ${thrown.message}. Check it and try again`;
  return new CapstanError("workspace_failed", `${doing} ${printablePath(path)} failed: ${cause}.`, {
    cause: thrown,
    data: { path: path.toString(), code },
  });
}

function interruption(cause?: unknown): CapstanError {
  return new CapstanError(
    "workspace_failed",
    "Creating the workspace was interrupted. Everything created so far is removed.",
    {
      cause,
    },
  );
}

export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interruption(signal.reason);
}
