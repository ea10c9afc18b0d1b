import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { isInside } from "../../../core/paths/inside.ts";
import type { WireFileList } from "../../../protocol/api/files.ts";

/** In bytes: what one answer carries. */
const MAX_FILE = 10 * 1_048_576;
const MAX_ENTRIES = 1_000;

/** A workspace as it may be looked at: nothing outside of it, whatever its links say, and nothing that is hidden. */
export interface LookedAt {
  readonly root: string;
  /** Of a path without links. */
  readonly isHidden: (path: string) => boolean;
}

export async function listFiles(workspace: LookedAt, path: string): Promise<WireFileList> {
  const { real, relative } = await placeIn(workspace, path);
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
  const { real } = await placeIn(workspace, path);
  // A pipe must not keep anybody waiting, and what the name leads to by now is looked at before it is read.
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
      `path: ${path} has ${size} bytes, and an answer carries ${MAX_FILE}. Take all files with POST …/export/zip.`,
    );
  return handle.readFile();
}

/** An agent may exchange a directory for a link at any moment: what was opened must be what lies in the workspace. */
async function sameFile(
  handle: FileHandle,
  workspace: LookedAt,
  path: string,
): Promise<{ readonly size: number; readonly isFile: boolean }> {
  const opened = await handle.stat();
  const { real } = await placeIn(workspace, path);
  const named = await stat(real);
  if (opened.dev !== named.dev || opened.ino !== named.ino)
    throw new CapstanError("store_conflict", `path: ${path} changed while it was read. Try again.`, {
      retryable: true,
    });
  return { size: opened.size, isFile: opened.isFile() };
}

/** Links resolved. `relative` is to the workspace. */
async function placeIn(
  { root, isHidden }: LookedAt,
  path: string,
): Promise<{ readonly real: string; readonly relative: string }> {
  const relative = posix.normalize(path).replace(/\/+$/, "") || ".";
  if (path.includes("\0") || posix.isAbsolute(path) || relative === ".." || relative.startsWith("../"))
    throw new CapstanError(
      "invalid_input",
      `path: ${JSON.stringify(path)} leads out of the workspace. Name a file relative to it, such as src/main.ts.`,
    );
  const realRoot = await realpath(root).catch(() => {
    throw new CapstanError("not_found", "The workspace of this session is not there any more.");
  });
  const real = await realpath(join(realRoot, relative)).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  // A link out of the workspace, and what is hidden, are as good as not there.
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
  return new CapstanError("not_found", `path: ${path} cannot be read by the server (${code ?? "unknown"}).`);
}

function missing(path: string): CapstanError {
  return new CapstanError("not_found", `path: there is no ${path} in the workspace. List its files to find it.`);
}
