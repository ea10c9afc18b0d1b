import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isInside } from "../core/paths/is-inside.ts";

/** Where the host looks for its own programs. An agent's variables do not affect it. */
export function hostPath(): string {
  return process.env["PATH"] ?? "/usr/bin:/bin";
}

/**
 * The part of a search path that an agent can't write: absolute directories outside its workspace that no package
 * manager fills with a project's programs. Nothing is outside `/`, so that excludes nothing.
 */
export function safePath(path: string, { outside }: { readonly outside?: string | undefined } = {}): string {
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory) && !directory.split("/").includes("node_modules"))
    .filter((directory) => outside === undefined || outside === "/" || !isInside(directory, outside))
    .join(delimiter);
}

/** The absolute path of a program, the first in `safePath`; undefined if there is none. */
export function findProgram(
  name: string,
  { path = hostPath(), outside }: { readonly path?: string; readonly outside?: string | undefined } = {},
): string | undefined {
  return safePath(path, { outside })
    .split(delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
