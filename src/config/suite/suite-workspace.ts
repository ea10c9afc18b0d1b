import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, normalize, resolve, sep } from "node:path";
import type { CaseAsWritten } from "../../core/suite/suite-schema.ts";

// The files a case starts with.

export type Path = readonly PropertyKey[];

/** Reports a mistake in a field. */
export type Note = (field: Path, text: string) => void;

/** The suite's directory is used unchanged. */
export function checkHere({ fixture, files, git }: CaseAsWritten, note: Note): void {
  for (const [field, given] of Object.entries({ fixture, files, git }))
    if (given !== undefined && given !== false)
      note([field], "nothing is written to the suite's own directory (workspace: here); remove this, or workspace");
}

export function fixtureOf(written: string, file: string, note: (text: string) => void): string {
  const path = resolve(dirname(file), written);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) note(`expected a directory (not found: ${path})`);
  else if (!found.isDirectory()) note(`expected a directory (${path} is a file)`);
  else if (lstatSync(path).isSymbolicLink()) return realpathSync(path);
  return path;
}

export function filesOf(
  files: Readonly<Record<string, string>>,
  note: (name: string, text: string) => void,
): Readonly<Record<string, string>> {
  for (const name of Object.keys(files))
    if (isAbsolute(name) || normalize(name).split(sep).includes("..") || normalize(name) === ".")
      note(name, "expected a path inside the workspace");
  return files;
}
