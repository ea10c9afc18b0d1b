import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isInside } from "../../core/inside.ts";
import type { Place } from "../../core/permission/subject.ts";
import { realPath } from "../real-path.ts";

export interface Surroundings {
  /** Where the session works: its workspace. */
  readonly cwd: string;
  /** What `~` stands for in rules. */
  readonly home: string;
}

/** Names of files as one session's tools understand them. */
export class Names {
  readonly workspace: string;
  readonly home: string;
  readonly #cwd: string;

  constructor({ cwd, home }: Surroundings) {
    this.#cwd = resolve(cwd);
    this.workspace = realPath(this.#cwd);
    this.home = realPath(resolve(home));
  }

  /** Where a name leads: one place, or two where `..` follows a link and not all readers go back the same way. */
  places(name: string | undefined, base = this.workspace): Place[] {
    if (name === undefined || name === "") return [];
    const written = name.replace(/^~(?=\/|$)/, () => this.home);
    const unresolved = isAbsolute(written) ? this.#withoutLinkTo(written) : `${base}/${written}`;
    const named = resolve(unresolved);
    const reals = new Set([realPath(named), realPath(unresolved, this.workspace)]);
    return [...reals].map((real) => ({ named, real }));
  }

  /** The workspace may itself be known under a name with links. */
  #withoutLinkTo(path: string): string {
    return isInside(path, this.#cwd) ? this.workspace + path.slice(this.#cwd.length) : path;
  }

  areInside(places: readonly Place[]): boolean {
    return places.every(({ real }) => isInside(real, this.workspace));
  }

  exists(name: string, base: string): boolean {
    try {
      return lstatSync(resolve(base, name), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  }
}
