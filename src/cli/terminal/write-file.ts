import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/**
 * Writes a file completely or not at all: it is renamed once everything is on disk, and never replaces another file.
 * Only the owner can read it, because it may contain an agent's work. Rejects with a file system error such as `EEXIST`.
 */
export async function writeWholeFile(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const target = resolve(file);
  if (existsSync(target)) throw existsError(target);
  const aside = join(dirname(target), `.capstan-${randomUUID()}.partial`);
  try {
    await using handle = await open(aside, "wx", 0o600);
    await write(handle);
    await handle.sync();
    await moveInto(aside, target);
  } finally {
    await rm(aside, { force: true });
  }
}

/** The same for a stream of pieces. */
export async function writeWholeStream(file: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  await writeWholeFile(file, async (handle) => {
    for await (const piece of pieces) await handle.writeFile(piece);
  });
}

/** A link never replaces a file, but not every file system supports links. */
async function moveInto(aside: string, target: string): Promise<void> {
  try {
    await link(aside, target);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw thrown;
    if (existsSync(target)) throw existsError(target);
    await rename(aside, target);
  }
}

function existsError(file: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${file} already exists`), { code: "EEXIST", syscall: "open" });
}
