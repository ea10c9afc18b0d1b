import { lstatSync, readFileSync } from "node:fs";
import { CapstanError, messageOf } from "../core/errors.ts";

/** The codes of errors in what a user wrote. */
export type FileErrorCode = "invalid_input" | "invalid_agent";

interface TextFile {
  /** What it is to the user, such as `the agent file`. */
  readonly what: string;
  readonly code: FileErrorCode;
}

/** No file that a person writes is larger. */
const MAX_BYTES = 1024 * 1024;

/** The text of a UTF-8 file, without a byte order mark. */
export function readTextFile(path: string, { what, code }: TextFile): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.byteLength > MAX_BYTES) throw new Error("it is larger than 1 MiB");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CapstanError(code, `Cannot read ${what} ${path}: ${reasonOf(error)}.`, {
      data: { file: path },
      cause: error,
    });
  }
}

/** The same for a file that need not be there. A symbolic link to nothing is there. */
export function readTextFileIfThere(path: string, file: TextFile): string | undefined {
  return isThere(path) ? readTextFile(path, file) : undefined;
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Whatever is wrong, reading will tell.
    return true;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "its symbolic links lead in a circle",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not UTF-8 text",
};

/** Why a file could not be read, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? messageOf(error);
}
