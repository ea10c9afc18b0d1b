import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Environment, homeDirectory } from "../../config/project/home.ts";
import type { Trusting } from "../../config/load.ts";
import { readSuite } from "../../config/suite/suite-file.ts";
import { recordedTrust } from "../../config/trust/recorded-trust.ts";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import type { LeaseOwner } from "../../core/ports/store.ts";
import type { Suite } from "../../core/suite/suite.ts";
import { isGone, thisProcess } from "../host/processes.ts";

/**
 * The files of a case that is being created. They are next to its suite under a temporary name until all of them are
 * complete.
 */
export interface StagedCase extends AsyncDisposable {
  /** Files in this directory have the same relative paths as in the suite's. */
  readonly path: string;
  /** Parses a text as the suite at its final path. */
  read(text: string, environment: Environment): Promise<Suite>;
  /** Moves everything into place. The suite is last: until then nothing takes effect. */
  finish(made: { readonly files: readonly string[]; readonly cassette: string; readonly suite: string }): Promise<void>;
}

const PREFIX = ".capstan-record-";
const OWNER = "owner.json";
/** Not named like a suite, so that one left by a killed process does not run. */
const SUITE = "suite.yaml";

export async function stageCase(suiteFile: string): Promise<StagedCase> {
  const directory = dirname(suiteFile);
  const isNew = !existsSync(suiteFile);
  await using undo = new AsyncDisposableStack();
  const made = await mkdir(directory, { recursive: true });
  if (made !== undefined) undo.defer(() => removeEmpty(directory, dirname(made)));
  await removeLeftOvers(directory);
  const path = await mkdtemp(join(directory, PREFIX));
  undo.defer(() => remove(path));
  await writeFile(join(path, OWNER), JSON.stringify(thisProcess(basename(path))));
  // A suite is read by its name and location. `capstan test` ignores links, because it looks for files.
  await symlink(join(basename(path), SUITE), linkOf(path));
  const staged = undo.move();
  return {
    path,
    async read(text, environment) {
      await writeFile(join(path, SUITE), text);
      const { suite } = await readSuite(linkOf(path), environment, trustIn(path, environment));
      const name = suite.name === stemOf(linkOf(path)) ? stemOf(suiteFile) : suite.name;
      return { ...suite, name, file: suiteFile };
    },
    async finish({ files, cassette, suite }) {
      await using back = new AsyncDisposableStack();
      // A cassette without a case belongs to no one and is replaced.
      for (const target of [...files.map((file) => join(directory, file)), ...(isNew ? [suiteFile] : [])])
        if (existsSync(target))
          throw new CapstanError("invalid_input", `${target} was created meanwhile. Record the session again.`);
      await writeFile(join(path, SUITE), suite);
      for (const file of [...files, cassette]) {
        const target = join(directory, file);
        back.defer(() => removeEmpty(dirname(target), directory));
        await mkdir(dirname(target), { recursive: true });
        await rename(join(path, file), target);
        back.defer(() => rm(target, { recursive: true, force: true }));
      }
      await rename(join(path, SUITE), suiteFile);
      back.move();
    },
    [Symbol.asyncDispose]: () => staged.disposeAsync(),
  };
}

/**
 * The case comes from a session that has run, and so does its agent if it is created here. Everything else follows the
 * recorded trust.
 */
function trustIn(path: string, environment: Environment): Trusting {
  const { isTrusted } = recordedTrust(homeDirectory(environment).path);
  return { isTrusted: (item) => item.kind === "suite" || isInside(item.path, path) || isTrusted(item) };
}

/** Removes leftovers of killed processes. */
async function removeLeftOvers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const owner = name.startsWith(PREFIX) ? await ownerOf(path) : undefined;
    if (owner !== undefined && isGone(owner)) await remove(path);
  }
}

async function ownerOf(path: string): Promise<LeaseOwner | undefined> {
  try {
    return JSON.parse(await readFile(join(path, OWNER), "utf8")) as LeaseOwner;
  } catch {
    return undefined;
  }
}

async function remove(path: string): Promise<void> {
  await rm(linkOf(path), { force: true });
  await rm(path, { recursive: true, force: true });
}

function linkOf(path: string): string {
  return `${path}.test.yaml`;
}

/** The default name of a suite. */
function stemOf(file: string): string {
  return basename(file).replace(/\.test\.ya?ml$/, "");
}

/** Removes the directory and its parents while they are empty, up to `top`, which stays. */
async function removeEmpty(directory: string, top: string): Promise<void> {
  for (let at = directory; at !== top; at = dirname(at))
    try {
      await rmdir(at);
    } catch {
      return;
    }
}
