import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { agentPrograms, isAgentFile } from "./agent-files.ts";
import { isGitDirectory, isGitHead } from "./git-layout.ts";

/** Must not be created at the top of the workspace, where the next session, git, npm or a shell would read it. */
const KEPT_ABSENT = [".capstan", ".env", ".envrc", "agent.yaml", ".husky", ".npmrc"];
/** Protected parts of a repository in the workspace. The agent may write the rest, because it commits. */
const IN_REPOSITORY = ["config", "hooks", "info", "modules"];
/** Limits on what is searched and found: each place becomes a mount for every command. */
const MAX_DIRECTORIES = 2_000;
const MAX_FOUND = 200;
const LEFT_OUT = new Set(["node_modules"]);

/**
 * The paths in a workspace that sandboxed commands must not change: existing configuration at any depth, and at the top
 * level also configuration that does not exist yet. Absolute.
 */
export function configurationIn(cwd: string, agent?: AgentDefinition): readonly string[] {
  const programs = agent === undefined ? [] : agentPrograms(agent, cwd).filter((path) => isInside(path, cwd));
  const holding = programs.flatMap((path) => directoriesOfLinks(path, cwd));
  const kept = [...KEPT_ABSENT.map((name) => join(cwd, name)), ...programs, ...holding];
  return [...new Set([...kept, ...configurationBelow(cwd)])];
}

/** Nothing can be mounted on a link, so its directory is protected instead, unless that is the workspace. */
function directoriesOfLinks(path: string, cwd: string): readonly string[] {
  const parent = dirname(path);
  if (parent === cwd || !isInside(parent, cwd)) return [];
  const isLink = statsOf(path)?.isSymbolicLink() === true;
  return [...directoriesOfLinks(parent, cwd), ...(isLink ? [parent] : [])];
}

/** Existing configuration, closest to the top first. */
export function configurationBelow(cwd: string): readonly string[] {
  const found: string[] = [];
  const directories = [cwd];
  for (let looked = 0; looked < directories.length && looked < MAX_DIRECTORIES && found.length < MAX_FOUND; looked++) {
    const directory = directories[looked] ?? cwd;
    const entries = entriesOf(directory);
    if (isRepositoryItself(entries)) found.push(...inRepository(directory));
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const kind = kindOf(entry, path, cwd);
      if (kind === "repository") found.push(...inRepository(path));
      else if (kind === "configuration") found.push(path);
      else if (kind === "directory") directories.push(path);
    }
  }
  return found.slice(0, MAX_FOUND);
}

/** At most this many directories are searched for configuration that appeared in a turn. */
const MAX_WATCHED = 20_000;

/**
 * The same without a limit to what is found, and with repositories as a whole: one under another name than `.git` by its
 * `HEAD`. `isAll`: nothing was left out.
 */
export async function allConfigurationBelow(cwd: string): Promise<{
  paths: readonly string[];
  isAll: boolean;
  directories: number;
}> {
  const paths: string[] = [];
  const directories = [cwd];
  for (let looked = 0; looked < directories.length; looked++) {
    if (looked >= MAX_WATCHED) return { paths, isAll: false, directories: looked };
    const directory = directories[looked] ?? cwd;
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    if (isRepositoryItself(entries))
      paths.push(...entries.filter(({ name }) => isGitHead(name)).map(({ name }) => join(directory, name)));
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const kind = kindOf(entry, path, cwd);
      if (kind === "directory") directories.push(path);
      else if (kind !== undefined) paths.push(path);
    }
  }
  return { paths, isAll: true, directories: directories.length };
}

function kindOf(entry: Dirent, path: string, cwd: string): "repository" | "configuration" | "directory" | undefined {
  if (isRepository(entry)) return "repository";
  if (isConfiguration(path, cwd)) return "configuration";
  return entry.isDirectory() && !LEFT_OUT.has(entry.name) ? "directory" : undefined;
}

function isConfiguration(path: string, cwd: string): boolean {
  // A workspace may be a home directory or a copy of one.
  return rowOfPath(path, { workspace: cwd, home: cwd }) !== undefined || isAgentFile(path);
}

function isRepositoryItself(entries: readonly Dirent[]): boolean {
  return isGitDirectory(entries.map(({ name }) => name));
}

function isRepository(entry: Dirent): boolean {
  return entry.isDirectory() && entry.name.toLowerCase() === ".git";
}

/** Resolves a link to its target, because a link cannot be mounted. */
function inRepository(path: string): string[] {
  return IN_REPOSITORY.map((name) => join(path, name)).filter((file) => statsOf(file)?.isSymbolicLink() !== true);
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // If it cannot be read, it cannot be written either.
    return [];
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
