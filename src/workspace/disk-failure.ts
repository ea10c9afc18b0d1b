import { CapstanError } from "../core/errors.ts";

/** What the codes of the system mean to a person, and what to do. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Make room on it and try again",
  EDQUOT: "your share of the disk is used up. Make room on it and try again",
  EFBIG: "the file is larger than this process may write. Raise the limit (ulimit -f), or leave the file out",
  EROFS: "the disk can only be read. Make it writable, or set CAPSTAN_HOME to a directory on another disk",
  EACCES: "permission is denied. Change its permissions or its owner, or leave it out",
  EPERM: "the system does not permit it. Change its permissions or its owner, or leave it out",
  EMFILE: "too many files are open. Raise the limit (ulimit -n) and try again",
  ENFILE: "too many files are open on this machine. Try again later",
  ENAMETOOLONG: "its path is too long there. Shorten it, or leave it out",
  EIO: "the disk has an error. Check it",
  ENOENT: "it is not there any more. Leave it alone until the workspace is made, and try again",
};

/** The path as a person can read it, also when it has line breaks or bytes that are no text. */
export function shownPath(path: Buffer | string): string {
  const text = path.toString();
  return /[\p{Cc}\uFFFD]/u.test(text) ? JSON.stringify(text) : text;
}

/** An error of the file system as `workspace_failed`; others as they are. */
export function diskFailure(thrown: unknown, doing: string, path: Buffer | string): unknown {
  if (thrown instanceof CapstanError || !(thrown instanceof Error)) return thrown;
  if (thrown.name === "AbortError") return interrupted(thrown);
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === undefined) return thrown;
  const cause = CAUSES[code] ?? `the system says ${thrown.message}. Check it and try again`;
  return new CapstanError("workspace_failed", `${doing} ${shownPath(path)} failed: ${cause}.`, {
    cause: thrown,
    data: { path: path.toString(), code },
  });
}

function interrupted(cause?: unknown): CapstanError {
  return new CapstanError("workspace_failed", "Making the workspace was interrupted; what was made is removed.", {
    cause,
  });
}

export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted(signal.reason);
}
