import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { diskFailure } from "./disk-failure.ts";

/**
 * Removes a directory and everything in it; removes links without following them. Does nothing if it does not exist.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await remove(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw diskFailure(error, "Removing", path);
    // Files in a read-only directory cannot be removed.
    await openUp(Buffer.from(path));
    await remove(path).catch((again: unknown) => {
      throw diskFailure(again, "Removing", path);
    });
  }
}

async function remove(path: string): Promise<void> {
  // An interrupted process may still write for a moment.
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

async function openUp(directory: Buffer): Promise<void> {
  const found = await lstat(directory);
  if (!found.isDirectory()) return;
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: "buffer" }))
    if (entry.isDirectory()) await openUp(Buffer.concat([directory, Buffer.from("/"), entry.name]));
}
