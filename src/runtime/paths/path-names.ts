import { lstatSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../../core/paths/is-inside.ts";
import type { NamedPath } from "../../core/rules/subject.ts";
import { realPath } from "./real-path.ts";

export interface PathSurroundings {
  /** The session's workspace. */
  readonly cwd: string;
  /** What `~` means in rules. */
  readonly home: string;
  /** The HOME of the session's commands, which `~` also means in a command. */
  readonly shellHome?: string | undefined;
}

/** Resolves file names the way one session's tools do. */
export class Names {
  readonly workspace: string;
  readonly home: string;
  readonly shellHome: string | undefined;
  /** All that `~` can mean: the first in rules, the last in a shell. */
  readonly homes: readonly string[];
  readonly #cwd: string;

  constructor({ cwd, home, shellHome }: PathSurroundings) {
    this.#cwd = resolve(cwd);
    this.workspace = realPath(this.#cwd);
    this.home = realPath(resolve(home));
    // Do not resolve the directory itself: an agent could replace it with a link.
    this.shellHome = shellHome && join(realPath(dirname(resolve(shellHome))), basename(shellHome));
    this.homes = [this.home, ...(this.shellHome === undefined ? [] : [this.shellHome])];
  }

  /**
   * Where a name leads. Several places for `~`, and where `..` follows a link that not all tools resolve the same way.
   */
  places(name: string | undefined, base = this.workspace): NamedPath[] {
    if (name === undefined || name === "") return [];
    if (/^~(?:\/|$)/.test(name)) return this.homes.flatMap((home) => this.#placesOf(home + name.slice(1), base));
    return this.#placesOf(name, base);
  }

  #placesOf(written: string, base: string): NamedPath[] {
    const unresolved = isAbsolute(written) ? this.#withoutLinkTo(written) : `${base}/${written}`;
    const named = resolve(unresolved);
    const reals = new Set([realPath(named), realPath(unresolved, this.workspace)]);
    return [...reals].map((real) => ({ named, real }));
  }

  /** The workspace's own path may contain links. */
  #withoutLinkTo(path: string): string {
    return isInside(path, this.#cwd) ? this.workspace + path.slice(this.#cwd.length) : path;
  }

  areInside(places: readonly NamedPath[]): boolean {
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
