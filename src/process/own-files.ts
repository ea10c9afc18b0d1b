import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/**
 * Files of the host in directories that an agent's commands may be able to write. A command can leave a pipe, a device,
 * a socket, a directory or a link there: opening one could block the whole host, or lead it to another file.
 */

const ANEW = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Bytes. The host's files there are short. */
const LONGEST = 16 * 1024 * 1024;

/** Undefined if it does not exist. Throws for anything but a regular file. */
export function readOwnFile(path: string): string | undefined {
  return readOwnBytes(path)?.toString("utf8");
}

/** The same as bytes. */
export function readOwnBytes(path: string): Buffer | undefined {
  const descriptor = openPlain(path);
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file.`);
    if (stats.size > LONGEST) throw new Error(`${path} has ${stats.size} bytes, which exceeds the limit.`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function openPlain(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Replaces whatever is there with a file. Readers see the whole new text, or the old one. */
export function writeOwnFile(path: string, content: string | Uint8Array): void {
  const made = `${path}.${randomUUID()}.new`;
  const descriptor = openSync(made, constants.O_WRONLY | ANEW, 0o600);
  try {
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    // A file can't replace a directory.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) removeOwn(path);
    renameSync(made, path);
  } catch (thrown) {
    rmSync(made, { force: true });
    throw thrown;
  }
}

/**
 * Replaces whatever is there with a new file, for writing and reading. Rejects if something else is created in between.
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  removeOwn(path);
  return open(path, constants.O_RDWR | ANEW, 0o600);
}

/** Directories below `root`, which is the host's own: afterwards, each is a directory and not a link. */
export function makeOwnDirectory(root: string, ...names: readonly string[]): string {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  let path = root;
  for (const name of names) {
    path = join(path, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) continue;
    if (stats !== undefined) removeOwn(path);
    mkdirSync(path, { mode: 0o700 });
  }
  return path;
}

/** Removes a file, a directory or a link, but never a link's target. */
export function removeOwn(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
