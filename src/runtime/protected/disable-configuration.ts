import { readdirSync, realpathSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { PinnedDirectory } from "../../process/pinned.ts";
import { statsOf } from "./fingerprints.ts";
import { isGitHead } from "./git-layout.ts";
import { isHarmlessRepository } from "./harmless-repository.ts";

/**
 * Whether its name alone makes some program read it as configuration. An agent file under another name is read only if
 * someone names it, and a repository as git creates it runs nothing.
 */
export function takesEffect(path: string, cwd: string): boolean {
  if (isRepository(path)) return !isHarmlessRepository(repositoryOf(path));
  return rowOfPath(path, { workspace: cwd, home: cwd }) !== undefined;
}

/** A `.git`, or the `HEAD` by which git takes the directory around it for one. */
export function isRepository(path: string): boolean {
  return basename(path).toLowerCase() === ".git" || isGitHead(path);
}

/** Where the settings of a repository are. */
export function repositoryOf(path: string): string {
  return isGitHead(path) ? dirname(path) : path;
}

export interface Disabled {
  readonly path: string;
  readonly movedTo: string;
}

/**
 * Renames the configuration so that no program reads it. Nothing is lost. Throws when the path now contains a link: a
 * program that still runs could lead the host to other files.
 */
export function disable(path: string, cwd: string): Disabled {
  const place = dirname(path);
  using parent = PinnedDirectory.open(join(realpathSync(cwd), relative(cwd, place)));
  const name = freeName(basename(path), new Set(readdirSync(parent.at("."))));
  renameSync(parent.at(basename(path)), parent.at(name));
  const movedTo = join(place, name);
  // With its HEAD it would be a repository under any name.
  if (statsOf(join(movedTo, "HEAD")) !== undefined) disable(join(movedTo, "HEAD"), cwd);
  return { path, movedTo };
}

/** Disables what can be. One that cannot keeps nobody from disabling the others. */
export function disableAll(
  paths: readonly string[],
  cwd: string,
): { readonly disabled: readonly Disabled[]; readonly problem?: string } {
  const disabled: Disabled[] = [];
  let problem: string | undefined;
  for (const path of new Set(paths))
    try {
      disabled.push(disable(path, cwd));
    } catch (thrown) {
      problem ??= `${relative(cwd, path)} could not be disabled: ${messageOf(thrown)}`;
    }
  return { disabled, ...(problem !== undefined && { problem }) };
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
