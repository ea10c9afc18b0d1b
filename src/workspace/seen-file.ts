import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";

/** A regular file as the scan saw it. Only this one may be copied. */
export interface SeenFile {
  /** Absolute, with links resolved. */
  readonly path: Buffer;
  readonly size: number;
  readonly mode: number;
  readonly device: bigint;
  readonly inode: bigint;
  readonly modified: bigint;
}

/** Another file is there now. */
export class FileChanged extends Error {}

/** Inspects the file at a path without links; undefined if it is not a regular file. */
export async function see(path: Buffer): Promise<SeenFile | undefined> {
  const found = await lstat(path, { bigint: true });
  return found.isFile() ? toSeenFile(path, found) : undefined;
}

function toSeenFile(path: Buffer, found: BigIntStats): SeenFile {
  return {
    path,
    size: Number(found.size),
    mode: Number(found.mode),
    device: found.dev,
    inode: found.ino,
    modified: found.mtimeNs,
  };
}

/**
 * Opens exactly the file that was seen: not through a link that replaced it or one of its parent directories. A pipe in
 * its place must not block.
 */
export async function openSeen(file: SeenFile): Promise<FileHandle> {
  const handle = await openWithoutLink(file.path);
  try {
    await checkUnchanged(handle, file);
    if (process.platform === "linux") {
      const opened = await readlink(`/proc/self/fd/${handle.fd}`, { encoding: "buffer" });
      if (!opened.equals(file.path)) throw new FileChanged("another path");
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openWithoutLink(path: Buffer): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link, a missing parent directory, or a socket.
    if (code === "ELOOP" || code === "ENOENT" || code === "ENOTDIR" || code === "ENXIO")
      throw new FileChanged(code, { cause: error });
    throw error;
  }
}

export async function checkUnchanged(handle: FileHandle, file: SeenFile): Promise<void> {
  const now = await handle.stat({ bigint: true });
  const same =
    now.isFile() &&
    now.dev === file.device &&
    now.ino === file.inode &&
    Number(now.size) === file.size &&
    now.mtimeNs === file.modified;
  if (!same) throw new FileChanged("other contents");
}
