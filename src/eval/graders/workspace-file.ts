import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { GraderError } from "./grader.ts";

const MAX_BYTES = 10_000_000;

export type WorkspaceFile =
  | { readonly kind: "missing" }
  /** The agent may have created a link to anything; paths outside the workspace are not read. */
  | { readonly kind: "link"; readonly why: string }
  | { readonly kind: "directory" }
  | { readonly kind: "other" }
  | { readonly kind: "file"; readonly real: string; readonly bytes: number };

/** Inspects a path in the workspace. */
export async function findWorkspaceFile(workspace: string, path: string): Promise<WorkspaceFile> {
  const root = await realpath(workspace);
  const place = join(root, path);
  const there = await lstat(place).catch(absent);
  if (there === undefined) return { kind: "missing" };
  const real = await realpath(place).catch(() => undefined);
  if (real === undefined) return { kind: "link", why: "a broken link" };
  if (real !== root && !real.startsWith(root + sep))
    return { kind: "link", why: "a link to a path outside the workspace" };
  const { size, ...found } = await stat(real).then((one) => ({
    size: one.size,
    isFile: one.isFile(),
    isDirectory: one.isDirectory(),
  }));
  if (found.isFile) return { kind: "file", real, bytes: size };
  return { kind: found.isDirectory ? "directory" : "other" };
}

export async function readContent({ real, bytes }: WorkspaceFile & { readonly kind: "file" }): Promise<Buffer> {
  if (bytes > MAX_BYTES)
    throw new GraderError(`${real} has ${bytes} bytes; files larger than ${MAX_BYTES} are not compared`);
  return readFile(real);
}

function absent(thrown: unknown): undefined {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR") throw thrown;
}
