import { closeSync, constants, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";

/** Linux: a handle that identifies a path without reading it. Not among Node's constants. */
const O_PATH = 0o10_000_000;
const CAN_PIN = process.platform === "linux";
const DIRECTORY = constants.O_DIRECTORY | constants.O_NOFOLLOW | (CAN_PIN ? O_PATH : constants.O_RDONLY);

/** A link has replaced part of the path since the call was permitted. */
class MovedPlace extends Error {
  constructor(path: string) {
    super(`${path} changed after this call was permitted: part of it is now a link. Make the call again.`);
  }
}

/**
 * A directory held by a handle, so that it stays the same even if its name is reused. Each path component is opened
 * relative to the one before, and never through a link.
 */
export class PinnedDirectory implements Disposable {
  readonly #descriptor: number;
  readonly #path: string;

  private constructor(descriptor: number, path: string) {
    this.#descriptor = descriptor;
    this.#path = path;
  }

  /** `path` is absolute and without links. With `make`, missing directories are created. */
  static open(path: string, { make = false }: { readonly make?: boolean } = {}): PinnedDirectory {
    let current = new PinnedDirectory(openSync("/", DIRECTORY), "/");
    for (const name of path.split("/").filter((part) => part !== "")) {
      using parent = current;
      current = parent.#child(name, make);
    }
    return current;
  }

  /** A path that refers to `name` in this directory, whatever happens to its parents. */
  at(name: string): string {
    if (CAN_PIN) return `/proc/self/fd/${this.#descriptor}/${name}`;
    // This system can't address a handle by path, so check right before use.
    if (realpathSync(this.#path) !== this.#path) throw new MovedPlace(this.#path);
    return `${this.#path === "/" ? "" : this.#path}/${name}`;
  }

  #child(name: string, make: boolean): PinnedDirectory {
    const path = `${this.#path === "/" ? "" : this.#path}/${name}`;
    try {
      return new PinnedDirectory(openSync(this.at(name), DIRECTORY), path);
    } catch (thrown) {
      if (!make || codeOf(thrown) !== "ENOENT") throw linkError(thrown, path, this);
      mkdirSync(this.at(name));
      return this.#child(name, false);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Opens exactly the file at an absolute path without links. `flags` may create it but not truncate it: the caller must
 * check the opened file first.
 */
export function openPinned(path: string, flags: number, mode = 0o666): number {
  using parent = PinnedDirectory.open(dirname(path), { make: (flags & constants.O_CREAT) !== 0 });
  try {
    // Opening a pipe without a writer would block the host.
    return openSync(parent.at(basename(path)), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  } catch (thrown) {
    throw codeOf(thrown) === "ELOOP" ? new MovedPlace(path) : thrown;
  }
}

/** With `O_DIRECTORY`, a link fails as "not a directory". */
function linkError(thrown: unknown, path: string, parent: PinnedDirectory): unknown {
  if (codeOf(thrown) === "ELOOP") return new MovedPlace(path);
  if (codeOf(thrown) !== "ENOTDIR") return thrown;
  try {
    closeSync(openSync(parent.at(basename(path)), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return thrown;
  } catch (again) {
    return codeOf(again) === "ELOOP" ? new MovedPlace(path) : thrown;
  }
}

export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}
