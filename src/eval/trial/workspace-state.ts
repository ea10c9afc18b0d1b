import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { createTwoFilesPatch } from "diff";
import type { FileChange } from "../../core/ports/workspace.ts";

/** The files of a workspace at one moment, and its empty directories as `name/`, by path. */
export type WorkspaceState = ReadonlyMap<string, FileState>;

interface FileState {
  readonly hash: string;
  /** Absent if it is too large or not text. */
  readonly text: string | undefined;
}

/** Larger files are compared but not shown. */
const MAX_SHOWN = 1 << 20;

export async function workspaceState(root: string): Promise<WorkspaceState> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const filled = new Set(entries.map(({ parentPath }) => parentPath));
  const states = new Map<string, FileState>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (isGitsOwn(name)) continue;
    if (!entry.isDirectory()) states.set(name, await stateOf(path, entry));
    else if (!filled.has(path)) states.set(`${name}/`, EMPTY);
  }
  return states;
}

const EMPTY: FileState = { hash: "empty directory", text: "" };

/**
 * Files that git changes whenever it is used. Excludes its settings and hooks, which run commands later. The sample
 * hooks of a new repository do nothing.
 */
function isGitsOwn(name: string): boolean {
  if (!name.startsWith(".git/")) return false;
  return !/^\.git\/(?:config$|hooks(?:\/|$))/.test(name) || name.endsWith(".sample");
}

/** An agent's files may be unreadable, special or gone: that is a state as well. */
async function stateOf(path: string, entry: Dirent): Promise<FileState> {
  // Reading a pipe would block until something writes to it.
  if (!entry.isFile() && !entry.isSymbolicLink()) return { hash: "no file", text: undefined };
  try {
    return await fileState(path, entry.isSymbolicLink());
  } catch (error) {
    return { hash: String((error as NodeJS.ErrnoException).code), text: undefined };
  }
}

async function fileState(path: string, isLink: boolean): Promise<FileState> {
  const bytes = isLink ? Buffer.from(`-> ${await readlink(path)}\n`) : await readFile(path);
  const executable = !isLink && ((await stat(path)).mode & 0o100) !== 0;
  const hash = createHash("sha256").update(bytes).update(String(executable)).digest("hex");
  return { hash, text: bytes.length > MAX_SHOWN || bytes.includes(0) ? undefined : bytes.toString("utf8") };
}

/** The changes of the files between two moments, sorted by path. */
export function changesBetween(
  before: WorkspaceState,
  after: WorkspaceState,
): { readonly changes: readonly Pick<FileChange, "path" | "kind">[]; readonly diff: string } {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const changed = paths.filter(
    (path) => before.get(path)?.hash !== after.get(path)?.hash && !hasBelow(before.has(path) ? after : before, path),
  );
  return {
    changes: changed.map((path) => ({ path, kind: kindOf(before.has(path), after.has(path)) })),
    diff: changed.map((path) => patchOf(path, before.get(path), after.get(path))).join(""),
  };
}

/** A directory that was emptied or filled still exists: its files show what happened. */
function hasBelow(state: WorkspaceState, path: string): boolean {
  return path.endsWith("/") && state.keys().some((one) => one !== path && one.startsWith(path));
}

function kindOf(was: boolean, is: boolean): FileChange["kind"] {
  if (!was) return "added";
  return is ? "modified" : "deleted";
}

function patchOf(path: string, before: FileState | undefined, after: FileState | undefined): string {
  if (path.endsWith("/")) return `Empty directory ${kindOf(before !== undefined, after !== undefined)}: ${path}\n`;
  const [old, now] = [before === undefined ? "" : before.text, after === undefined ? "" : after.text];
  if (old === undefined || now === undefined) return `Binary or large file changed: ${path}\n`;
  const patch = createTwoFilesPatch(
    before === undefined ? "/dev/null" : `a/${path}`,
    after === undefined ? "/dev/null" : `b/${path}`,
    old,
    now,
    "",
    "",
    { context: 3 },
  );
  return patch.split("\n").slice(1).join("\n");
}
