import { closeSync, constants, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";

/** Linux: a handle that names a place and reads nothing. Not among Node's constants. */
const O_PATH = 0o10_000_000;
const CAN_PIN = process.platform === "linux";
const DIRECTORY = constants.O_DIRECTORY | constants.O_NOFOLLOW | (CAN_PIN ? O_PATH : constants.O_RDONLY);

/** A link now stands where there was none when the call was permitted. */
class MovedPlace extends Error {
  constructor(path: string) {
    super(
      `${path} leads somewhere else than when this call was permitted: a link was put in its way. Make the call again.`,
    );
  }
}

/**
 * A directory held by a handle, so that its name may be given to something else and the place stays the same. Each name on
 * the way is opened in the one before it, and never through a link.
 */
export class PinnedDirectory implements Disposable {
  readonly #descriptor: number;
  readonly #path: string;

  private constructor(descriptor: number, path: string) {
    this.#descriptor = descriptor;
    this.#path = path;
  }

  /** `path` is absolute and without links. With `make`, directories that are missing are created. */
  static open(path: string, { make = false }: { readonly make?: boolean } = {}): PinnedDirectory {
    let current = new PinnedDirectory(openSync("/", DIRECTORY), "/");
    for (const name of path.split("/").filter((part) => part !== "")) {
      using parent = current;
      current = parent.#child(name, make);
    }
    return current;
  }

  /** A path for the system that means this name here, whatever happens to the names above it. */
  at(name: string): string {
    if (CAN_PIN) return `/proc/self/fd/${this.#descriptor}/${name}`;
    // The system cannot name a handle, so a look just before has to do.
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
 * Opens the file at an absolute path without links, and no other. `flags` may create it, but not truncate it: what is
 * opened has to be looked at first.
 */
export function openPinned(path: string, flags: number, mode = 0o666): number {
  using parent = PinnedDirectory.open(dirname(path), { make: (flags & constants.O_CREAT) !== 0 });
  try {
    // A pipe without a writer would hold the host up.
    return openSync(parent.at(basename(path)), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  } catch (thrown) {
    throw codeOf(thrown) === "ELOOP" ? new MovedPlace(path) : thrown;
  }
}

/** `O_DIRECTORY` says of a link that it is no directory. */
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
