import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Fields by which built-in tools name the files they work on. */
const PATH_FIELDS = ["file_path", "path", "notebook_path"] as const;

/** Whether everything a call names lies in the workspace, links resolved. A call that names nothing stays in it. */
export function staysInside(input: Readonly<Record<string, unknown>>, cwd: string): boolean {
  const root = real(cwd);
  const named = PATH_FIELDS.flatMap((field) => (typeof input[field] === "string" ? [input[field]] : []));
  // A glob may lead out as well; where it is absolute or climbs, it is taken for outside.
  const pattern = typeof input["pattern"] === "string" && !("path" in input) ? input["pattern"] : "";
  if (isAbsolute(pattern) || pattern.split(/[\\/]/).includes("..")) return false;
  return named.every((path) => {
    const way = relative(root, real(resolve(root, expandHome(path))));
    return way === "" || (!way.startsWith("..") && !isAbsolute(way));
  });
}

/** `~` is somebody's home, which is not the workspace whatever it is called. */
function expandHome(path: string): string {
  return path.startsWith("~") ? `/${path}` : path;
}

/** The path with its links resolved, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(real(parent), basename(path));
  }
}
