import { link, readdir, rename, rm, stat } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isWholeIndex } from "./index-file.ts";
import { REF } from "./checkpoint-commit.ts";
import { randomName } from "./repository.ts";

/**
 * The index of one host. Each host has its own file, so that a git process that outlived its host can neither hold a
 * lock that we need nor replace what we wrote. When all is done, it is passed on to the next host as `index`. Git
 * replaces index files and never writes into them, so a hard link is as good as a copy.
 */
export interface OwnIndex {
  readonly file: string;
  /** False if another host has started meanwhile and cleaned up. */
  isThere(): boolean;
  /** Call this only after the checkpoint is saved: the published index must not be ahead of it. */
  publish(): Promise<void>;
}

/** In milliseconds: newer temporary copies may be in use by another process; older ones are leftovers. */
const OLD_MS = 3_600_000;

/** For the one host that writes. Removes leftovers of dead hosts. `fresh`: ignore the last host's index. */
export async function ownIndex(repository: string, { fresh }: { readonly fresh: boolean }): Promise<OwnIndex> {
  await tidy(repository);
  const published = join(repository, "index");
  const file = join(repository, `index-${randomName()}`);
  if (!fresh && (await isWholeIndex(published))) await link(published, file);
  return {
    file,
    isThere: () => existsSync(file),
    async publish() {
      // Git creates none for an empty workspace.
      if (existsSync(file)) await secondName(file, published);
    },
  };
}

/** A temporary copy of the last published index. */
export async function throwAwayIndex(repository: string): Promise<{ readonly file: string } & AsyncDisposable> {
  const published = join(repository, "index");
  const file = join(repository, `look-${randomName()}`);
  if (await isWholeIndex(published)) await link(published, file);
  return {
    file,
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
}

/** Replaces an existing one. */
async function secondName(file: string, name: string): Promise<void> {
  const aside = `${file}.${randomName()}`;
  await link(file, aside);
  await rename(aside, name);
  // Renaming does nothing if both are the same file.
  await rm(aside, { force: true });
}

async function tidy(repository: string): Promise<void> {
  for (const name of await readdir(repository)) {
    const file = join(repository, name);
    if (name.startsWith("index-")) await rm(file, { force: true });
    if (/^(look|merge|export)-/.test(name) && (await isOld(file))) await rm(file, { recursive: true, force: true });
  }
  for (const name of [REF, "packed-refs", "HEAD", "index"]) await rm(join(repository, `${name}.lock`), { force: true });
}

/** By its creation time: its content may be as old as the last checkpoint. */
async function isOld(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.ctimeMs > OLD_MS;
}
