import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { diskFailure } from "./disk-failure.ts";

/** Removes a directory with all that is in it; links in it are removed, not followed. Nothing happens when it is gone. */
export async function removeTree(path: string): Promise<void> {
  try {
    await remove(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw diskFailure(error, "Removing", path);
    // A directory that may not be written keeps what is in it.
    await openUp(Buffer.from(path));
    await remove(path).catch((again: unknown) => {
      throw diskFailure(again, "Removing", path);
    });
  }
}

async function remove(path: string): Promise<void> {
  // What was interrupted may still write for a moment.
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

async function openUp(directory: Buffer): Promise<void> {
  const found = await lstat(directory);
  if (!found.isDirectory()) return;
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: "buffer" }))
    if (entry.isDirectory()) await openUp(Buffer.concat([directory, Buffer.from("/"), entry.name]));
}
