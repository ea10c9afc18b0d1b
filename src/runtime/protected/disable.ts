import { renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { namesIn } from "./fingerprints.ts";
import { isHarmlessRepository } from "./harmless-repository.ts";

/**
 * Whether somebody reads it as configuration because of its name. An agent file under another name is read only by whoever
 * names it, and a repository as git makes it runs nothing.
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

/** Under another name it is nobody's configuration, and nothing is lost. */
export function disable(path: string): Disabled {
  const place = dirname(path);
  const taken = new Set(namesIn(place));
  const movedTo = join(place, freeName(basename(path), taken));
  renameSync(path, movedTo);
  return { path, movedTo };
}

/** Some names are configuration by their beginning, others by their end. */
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
