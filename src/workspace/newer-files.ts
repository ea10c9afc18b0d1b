import { lstat, readdir } from "node:fs/promises";

/**
 * Whether something in a directory was made, changed or removed after that time (milliseconds since the epoch). By the
 * times of the file system alone, which no program sets: a file that got its old contents back counts too.
 */
export async function isNewer(path: string | Buffer, time: number): Promise<boolean> {
  const root = Buffer.from(path);
  // A directory that was taken away holds nothing that could be lost.
  const found = await lstat(root).catch(() => undefined);
  if (found === undefined) return false;
  // What gets a name in a directory, or loses it, changes the directory.
  if (Math.floor(found.ctimeMs) > time) return true;
  if (!found.isDirectory()) return false;
  const names = await readdir(root, { encoding: "buffer" }).catch(() => undefined);
  // Nobody can tell what is in a directory that cannot be read.
  if (names === undefined) return true;
  for (const name of names)
    // Git writes there when somebody only looks.
    if (!name.equals(GIT) && (await isNewer(Buffer.concat([root, Buffer.from("/"), name]), time))) return true;
  return false;
}

const GIT = Buffer.from(".git");
