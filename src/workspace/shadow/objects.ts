import { createHash } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { randomName } from "./repository.ts";

/**
 * Writes the few objects of a checkpoint that are not files, in git's format: starting git for each of them would take
 * longer than everything else.
 */
export async function writeObject(
  repository: string,
  type: "blob" | "tree" | "commit",
  content: Buffer,
): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const hash = createHash("sha1").update(object).digest("hex");
  const file = join(repository, "objects", hash.slice(0, 2), hash.slice(2));
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) await writeAside(file, await promisify(deflate)(object));
  return hash;
}

export interface TreeEntry {
  readonly mode: "100644" | "40000";
  /** One byte per character. */
  readonly name: string;
  readonly hash: string;
}

export async function writeTree(repository: string, entries: readonly TreeEntry[]): Promise<string> {
  const sorted = entries.toSorted((a, b) => (sortedAs(a) < sortedAs(b) ? -1 : 1));
  const parts = sorted.flatMap(({ mode, name, hash }) => [
    Buffer.from(`${mode} ${name}\0`, "latin1"),
    Buffer.from(hash, "hex"),
  ]);
  return writeObject(repository, "tree", Buffer.concat(parts));
}

export async function writeRef(repository: string, ref: string, commit: string): Promise<void> {
  await writeAside(join(repository, ref), Buffer.from(`${commit}\n`));
}

/** Atomic: the file is complete even if the process dies. */
async function writeAside(file: string, content: Buffer): Promise<void> {
  const aside = join(dirname(file), `tmp_obj_${randomName()}`);
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(aside, content, { mode: 0o444 });
    await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
}

/** Git sorts a directory as if its name ended with a slash. */
function sortedAs({ mode, name }: TreeEntry): string {
  return mode === "40000" ? `${name}/` : name;
}
