import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isInside } from "../core/paths/inside.ts";

/** Where the host looks for programs of its own. An agent's variables have no part in it. */
export function hostPath(): string {
  return process.env["PATH"] ?? "/usr/bin:/bin";
}

/**
 * The part of a search path that an agent cannot fill: absolute directories, outside its workspace, and none that a
 * package manager fills with the programs of a project. Nothing is outside of `/`, so that leaves out nothing.
 */
export function safePath(path: string, { outside }: { readonly outside?: string | undefined } = {}): string {
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory) && !directory.split("/").includes("node_modules"))
    .filter((directory) => outside === undefined || outside === "/" || !isInside(directory, outside))
    .join(delimiter);
}

/** The whole path of a program, the first that `safePath` leads to; undefined when there is none. */
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
