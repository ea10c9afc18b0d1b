import { renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { namesIn } from "./fingerprints.ts";
import { isHarmlessRepository } from "./harmless-repository.ts";

/**
 * Whether its name alone makes some program read it as configuration. An agent file under another name is read only if
 * someone names it, and a repository as git creates it runs nothing.
 */
export function takesEffect(path: string, cwd: string): boolean {
  if (isRepository(path)) return !isHarmlessRepository(path);
  return rowOfPath(path, { workspace: cwd, home: cwd }) !== undefined;
}

export function isRepository(path: string): boolean {
  return basename(path).toLowerCase() === ".git";
}

export interface Disabled {
  readonly path: string;
  readonly movedTo: string;
}

/** Renames the configuration so that no program reads it. Nothing is lost. */
export function disable(path: string): Disabled {
  const place = dirname(path);
  const taken = new Set(namesIn(place));
  const movedTo = join(place, freeName(basename(path), taken));
  renameSync(path, movedTo);
  return { path, movedTo };
}

/** Changes both ends of the name: some names are recognized by their beginning, others by their end. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const after = `${name}.${MARK}`;
  const marked = isRead(after) ? `${MARK}${name}` : after;
  const numbered = [marked, ...Array.from({ length: 1_000 }, (_, at) => `${marked}-${at + 2}`)];
  return numbered.find((candidate) => !taken.has(candidate) && !isRead(candidate)) ?? `${MARK}-${Date.now()}`;
}

function isRead(name: string): boolean {
  return rowOfPath(`/${name}`, { workspace: "/", home: "/" }) !== undefined;
}

const MARK = "disabled-by-capstan";
