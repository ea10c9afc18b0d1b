import { lstat, readdir } from "node:fs/promises";

const BLOCK_BYTES = 512;
const AT_ONCE = 64;

/**
 * The disk usage of a directory and everything in it; 0 if it does not exist. Files that vanish meanwhile count as 0.
 */
export async function diskSize(path: string | Buffer): Promise<number> {
  const root = Buffer.from(path);
  const found = await lstat(root).catch(() => undefined);
  if (found === undefined) return 0;
  const own = found.blocks * BLOCK_BYTES;
  return found.isDirectory() ? own + (await sizeWithin(root)) : own;
}

async function sizeWithin(directory: Buffer): Promise<number> {
  const names = await readdir(directory, { encoding: "buffer" }).catch(() => []);
  let total = 0;
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const some = names.slice(start, start + AT_ONCE);
    const sizes = await Promise.all(some.map((name) => diskSize(Buffer.concat([directory, Buffer.from("/"), name]))));
    total += sizes.reduce((sum, size) => sum + size, 0);
  }
  return total;
}
