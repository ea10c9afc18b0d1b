import { link, readdir, rename, rm, stat } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isWholeIndex } from "./index-file.ts";
import { REF } from "./checkpoint-commit.ts";
import { randomName } from "./repository.ts";

/**
 * The index of one host. Each has a file of its own, so that a git process that outlived its host can neither hold a
 * lock that we need nor replace what we wrote. What it says is given on to the next one as `index`, when all is done.
 * Git replaces index files and never writes into them, so a second name for one is as good as a copy.
 */
export interface OwnIndex {
  readonly file: string;
  /** False when another host has come in the meantime and tidied up. */
  isThere(): boolean;
  /** After the checkpoint of what it says is stored, never before: it must not be ahead of it. */
  publish(): Promise<void>;
}

/** Throw-away copies of another process may be in use; older ones are of a dead one. */
const OLD_MS = 3_600_000;

/** For the one host that writes. Removes what dead ones left. `fresh`: without what the last one knew. */
export async function ownIndex(repository: string, { fresh }: { readonly fresh: boolean }): Promise<OwnIndex> {
  await tidy(repository);
  const published = join(repository, "index");
  const file = join(repository, `index-${randomName()}`);
  if (!fresh && (await isWholeIndex(published))) await link(published, file);
  return {
    file,
    isThere: () => existsSync(file),
    async publish() {
      // Git makes none for a workspace that is still empty.
      if (existsSync(file)) await secondName(file, published);
    },
  };
}

/** A copy for one look, of what was published last. */
export async function throwAwayIndex(repository: string): Promise<{ readonly file: string } & AsyncDisposable> {
  const published = join(repository, "index");
  const file = join(repository, `look-${randomName()}`);
  if (await isWholeIndex(published)) await link(published, file);
  return {
    file,
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
}

/** Also where there is one already. */
async function secondName(file: string, name: string): Promise<void> {
  const aside = `${file}.${randomName()}`;
  await link(file, aside);
  await rename(aside, name);
  // Renaming does nothing where both are one file.
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

/** By when it got its name: its contents may be as old as the last checkpoint. */
async function isOld(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.ctimeMs > OLD_MS;
}
