import { lstatSync } from "node:fs";
import { type BytePath, joinNul, pathOnDisk, parentsOf, splitNul } from "../paths.ts";
import type { RawChange } from "../changes/raw-changes.ts";
import type { UserRepository } from "../user-repository.ts";

interface Exportable {
  /** Changes with paths in the repository. */
  readonly changes: readonly RawChange[];
  /** The branch's current index: tracked files are never ignored. */
  readonly index: string;
}

/**
 * The changes that belong on a branch: not ignored files, and nothing in a submodule, which is a separate repository.
 */
export async function exportable(user: UserRepository, { changes, index }: Exportable): Promise<RawChange[]> {
  const submodules = await submodulesIn(user, index);
  const own = changes.filter(({ path }) => ![path, ...parentsOf(path)].some((part) => submodules.has(part)));
  const ignored = await ignoredOf(
    user,
    own.map(({ path }) => path),
    index,
  );
  return own.filter(({ path }) => !ignored.has(path));
}

async function submodulesIn(user: UserRepository, index: string): Promise<ReadonlySet<BytePath>> {
  const entries = splitNul((await user.git(["ls-files", "-s", "-z"], { index })).stdout);
  return new Set(
    entries.filter((entry) => entry.startsWith("160000 ")).map((entry) => entry.slice(entry.indexOf("\t") + 1)),
  );
}

async function ignoredOf(
  user: UserRepository,
  paths: readonly BytePath[],
  index: string,
): Promise<ReadonlySet<BytePath>> {
  // Git fails for paths behind a link, and then for all others too.
  const behindLink = (path: BytePath): boolean =>
    parentsOf(path).some((parent) => isLink(pathOnDisk(user.checkout, parent)));
  const asked = paths.filter((path) => !behindLink(path));
  if (asked.length === 0) return new Set();
  const { stdout } = await user.git(["check-ignore", "-z", "--stdin"], {
    index,
    workTree: user.checkout,
    input: joinNul(asked),
    accept: [1],
  });
  return new Set(splitNul(stdout));
}

function isLink(place: Buffer): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}
