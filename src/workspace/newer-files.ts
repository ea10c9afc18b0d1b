import { lstat, readdir } from "node:fs/promises";

/**
 * Whether anything in a directory was created, changed or removed after that time (milliseconds since the epoch). Uses
 * only the file system's change times, which no program can set: a file that got its old content back counts too.
 */
export async function isNewer(path: string | Buffer, time: number): Promise<boolean> {
  const root = Buffer.from(path);
  // A removed directory contains nothing that could be lost.
  const found = await lstat(root).catch(() => undefined);
  if (found === undefined) return false;
  // Adding or removing a name changes the directory.
  if (Math.floor(found.ctimeMs) > time) return true;
  if (!found.isDirectory()) return false;
  const names = await readdir(root, { encoding: "buffer" }).catch(() => undefined);
  // The content of an unreadable directory is unknown.
  if (names === undefined) return true;
  for (const name of names)
    // Git writes there even for read-only commands.
    if (!name.equals(GIT) && (await isNewer(Buffer.concat([root, Buffer.from("/"), name]), time))) return true;
  return false;
}

const GIT = Buffer.from(".git");
