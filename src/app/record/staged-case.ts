import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Environment, homeDirectory } from "../../config/project/home.ts";
import type { Trusting } from "../../config/load.ts";
import { readSuite } from "../../config/suite/suite-file.ts";
import { recordedTrust } from "../../config/trust/recorded.ts";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/inside.ts";
import type { LeaseOwner } from "../../core/ports/store.ts";
import type { Suite } from "../../core/suite/suite.ts";
import { isGone, thisProcess } from "../host/processes.ts";

/** The files of a case that is being made. They are beside its suite, out of the way, until all of them are whole. */
export interface StagedCase extends AsyncDisposable {
  /** In this directory they have the paths that they will have in the suite's. */
  readonly path: string;
  /** The suite that a text would be in its place. */
  read(text: string, environment: Environment): Promise<Suite>;
  /** Brings all to their places. The suite is the last: before it nothing counts. */
  finish(made: { readonly files: readonly string[]; readonly cassette: string; readonly suite: string }): Promise<void>;
}

const PREFIX = ".capstan-record-";
const OWNER = "owner.json";
/** By its name no suite: that of a process that was killed is not run. */
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
  // A suite is read by its name and from its place. A link is none to `capstan test`, which looks for files.
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
      // The cassette of no case is nobody's, and is replaced.
      for (const target of [...files.map((file) => join(directory, file)), ...(isNew ? [suiteFile] : [])])
        if (existsSync(target))
          throw new CapstanError("invalid_input", `${target} was made meanwhile. Record the session again.`);
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

/** The case is a session's that has run, and its agent, when it is made here, as well. All else is trusted or not. */
function trustIn(path: string, environment: Environment): Trusting {
  const { isTrusted } = recordedTrust(homeDirectory(environment).path);
  return { isTrusted: (item) => item.kind === "suite" || isInside(item.path, path) || isTrusted(item) };
}

/** What processes left here that were killed. */
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

/** What a suite is called that says nothing else. */
function stemOf(file: string): string {
  return basename(file).replace(/\.test\.ya?ml$/, "");
}

/** The directory and those above it, as far as nothing is in them, up to `top`, which stays. */
async function removeEmpty(directory: string, top: string): Promise<void> {
  for (let at = directory; at !== top; at = dirname(at))
    try {
      await rmdir(at);
    } catch {
      return;
    }
}
