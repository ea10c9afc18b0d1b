import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { isInside } from "../../../core/paths/is-inside.ts";
import type { WireFileList } from "../../../protocol/api/files.ts";

/** In bytes: the largest file in one answer. */
const MAX_FILE = 10 * 1_048_576;
const MAX_ENTRIES = 1_000;

/** A workspace as callers may see it: nothing outside of it, not even through links, and nothing hidden. */
export interface LookedAt {
  readonly root: string;
  /** Takes a path with links resolved. */
  readonly isHidden: (path: string) => boolean;
}

export async function listFiles(workspace: LookedAt, path: string): Promise<WireFileList> {
  const { real, relative } = await resolveInWorkspace(workspace, path);
  const entries = await readdir(real, { withFileTypes: true }).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  const shown = entries.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, MAX_ENTRIES);
  const data = await Promise.all(
    shown.map(async (entry) => ({
      name: entry.name,
      path: posix.join(relative, entry.name),
      type: typeOf(entry),
      size_bytes: entry.isFile() ? ((await lstat(join(real, entry.name)).catch(() => undefined))?.size ?? null) : null,
    })),
  );
  return { path: relative, data, truncated: entries.length > shown.length };
}

export async function readWorkspaceFile(workspace: LookedAt, path: string): Promise<Buffer> {
  const { real } = await resolveInWorkspace(workspace, path);
  // Non-blocking, so that a pipe cannot hang the request. The opened file is checked again before it is read.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using handle = await open(real, flags).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  const { size, isFile } = await sameFile(handle, workspace, path);
  if (!isFile)
    throw new CapstanError("invalid_input", `path: ${path} is not a file. List a directory with GET …/files.`);
  if (size > MAX_FILE)
    throw new CapstanError(
      "too_large",
      `path: ${path} has ${size} bytes; the limit is ${MAX_FILE}. Export all files with POST …/export/zip.`,
    );
  return handle.readFile();
}

/** An agent may replace a directory with a link at any moment, so the opened file must be the one in the workspace. */
async function sameFile(
  handle: FileHandle,
  workspace: LookedAt,
  path: string,
): Promise<{ readonly size: number; readonly isFile: boolean }> {
  const opened = await handle.stat();
  const { real } = await resolveInWorkspace(workspace, path);
  const named = await stat(real);
  if (opened.dev !== named.dev || opened.ino !== named.ino)
    throw new CapstanError("store_conflict", `path: ${path} changed while it was being read. Try again.`, {
      retryable: true,
    });
  return { size: opened.size, isFile: opened.isFile() };
}

/** Resolves links. `relative` is relative to the workspace. */
async function resolveInWorkspace(
  { root, isHidden }: LookedAt,
  path: string,
): Promise<{ readonly real: string; readonly relative: string }> {
  const relative = posix.normalize(path).replace(/\/+$/, "") || ".";
  if (path.includes("\0") || posix.isAbsolute(path) || relative === ".." || relative.startsWith("../"))
    throw new CapstanError(
      "invalid_input",
      `path: ${JSON.stringify(path)} is outside the workspace. Use a path relative to the workspace, such as src/main.ts.`,
    );
  const realRoot = await realpath(root).catch(() => {
    throw new CapstanError("not_found", "The workspace of this session no longer exists.");
  });
  const real = await realpath(join(realRoot, relative)).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  // Links out of the workspace and hidden files look like missing files.
  if (!isInside(real, realRoot) || isHidden(real)) throw missing(path);
  return { real, relative };
}

function typeOf(entry: Dirent): WireFileList["data"][number]["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}

function unreadable(path: string, thrown: unknown): CapstanError {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === "ENOTDIR")
    return new CapstanError("invalid_input", `path: ${path} is not a directory. Read a file with GET …/files/content.`);
  if (code === "ENOENT" || code === "ELOOP" || code === "ENAMETOOLONG") return missing(path);
  return new CapstanError("not_found", `path: the server cannot read ${path} (${code ?? "unknown"}).`);
}

function missing(path: string): CapstanError {
  return new CapstanError("not_found", `path: ${path} does not exist in the workspace. List its files to find it.`);
}
