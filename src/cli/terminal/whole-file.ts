import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/**
 * Makes a file that is there as a whole or not at all: it gets its name when everything is on the disk, and never takes
 * that of another file. Private, as it may hold what an agent wrote. Rejects with an error of the file system, such as
 * `EEXIST`.
 */
export async function writeWholeFile(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const target = resolve(file);
  if (existsSync(target)) throw alreadyThere(target);
  const aside = join(dirname(target), `.capstan-${randomUUID()}.partial`);
  try {
    await using handle = await open(aside, "wx", 0o600);
    await write(handle);
    await handle.sync();
    await putInPlace(aside, target);
  } finally {
    await rm(aside, { force: true });
  }
}

/** The same for lines or pieces as they come. */
export async function writeWholeStream(file: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  await writeWholeFile(file, async (handle) => {
    for await (const piece of pieces) await handle.writeFile(piece);
  });
}

/** A link never replaces a file. Not every file system has links. */
async function putInPlace(aside: string, target: string): Promise<void> {
  try {
    await link(aside, target);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw thrown;
    if (existsSync(target)) throw alreadyThere(target);
    await rename(aside, target);
  }
}

function alreadyThere(file: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${file} is there already`), { code: "EEXIST", syscall: "open" });
}
