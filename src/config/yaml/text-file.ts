import { closeSync, lstatSync, openSync, readSync } from "node:fs";
import { CapstanError, messageOf } from "../../core/errors.ts";

/** The codes of errors in user-written files. */
export type FileErrorCode = "invalid_input" | "invalid_agent" | "invalid_suite";

interface TextFile {
  /** What it is to the user, such as `the agent file`. */
  readonly what: string;
  readonly code: FileErrorCode;
}

/** Larger than any file that a person writes. */
const MAX_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

let noted: Map<string, Uint8Array> | undefined;

/** The content that was read, so that a check sees exactly the content that is used. */
export interface Reads<Value> {
  readonly value: Value;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Runs something that reads files, and records them. It must be synchronous: only one recording exists at a time. */
export function notingReads<Value>(work: () => Value): Reads<Value> {
  const before = noted;
  const files = new Map<string, Uint8Array>();
  noted = files;
  try {
    return { value: work(), files };
  } finally {
    noted = before;
  }
}

export function noteRead(path: string, bytes: Uint8Array): void {
  noted?.set(path, bytes);
}

/** The text of a UTF-8 file, without a byte order mark. */
export function readTextFile(path: string, { what, code }: TextFile): string {
  try {
    const bytes = readBytes(path, MAX_BYTES);
    noteRead(path, bytes);
    return decodeText(bytes);
  } catch (error) {
    throw new CapstanError(code, `Cannot read ${what} ${path}: ${reasonOf(error)}.`, {
      data: { file: path },
      cause: error,
    });
  }
}

/** Reads no more than needed: a path may lead to something endless. */
function readBytes(path: string, limit: number): Buffer {
  const file = openSync(path, "r");
  try {
    const chunks: Uint8Array[] = [];
    for (let length = 0; ;) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const count = readSync(file, chunk);
      if (count === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, count));
      length += count;
      if (length > limit) throw new Error("it is larger than 1 MiB");
    }
  } finally {
    closeSync(file);
  }
}

const UTF_8 = "save it as UTF-8";

function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Error(`it is UTF-16 text; ${UTF_8}`);
  const text = bytes.toString("utf8");
  if (text.includes("\0")) throw new Error(`it contains NUL characters, as binary files and UTF-16 text do; ${UTF_8}`);
  if (isFaithful(text, bytes)) return text.replace(/^\uFEFF/, "");
  const { length: line } = text.slice(0, text.indexOf(REPLACED)).split("\n");
  throw new Error(`line ${line} is not UTF-8 text, but perhaps Latin-1 or Windows-1252; ${UTF_8}`);
}

/** Replaces bytes that are not UTF-8. */
const REPLACED = "\uFFFD";

/** Whether a text represents the bytes exactly, without replacements. */
export function isFaithful(text: string, bytes: Uint8Array): boolean {
  return !text.includes(REPLACED) || Buffer.from(text).equals(bytes);
}

/** The same for an optional file. A broken symbolic link counts as existing. */
export function readTextFileIfThere(path: string, file: TextFile): string | undefined {
  return isThere(path) ? readTextFile(path, file) : undefined;
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Reading reports the problem.
    return true;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "its symbolic links lead in a circle",
};

/** Why a file could not be read, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? messageOf(error);
}
