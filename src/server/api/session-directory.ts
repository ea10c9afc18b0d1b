import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { CREDENTIAL_PATHS } from "../../core/environment/sandbox.ts";
import type { Caller } from "../http/context.ts";
import type { ApiDeps } from "./deps.ts";

/** The directory of a project's sessions that name no other; undefined if none is configured. */
export async function projectDirectory({ defaults }: ApiDeps, project: string): Promise<string | undefined> {
  if (defaults !== undefined) return (await defaults(project)).directory;
  return isAbsolute(project) ? project : undefined;
}

/** Returns an existing directory of this machine with links resolved. `field` is the field's name in the request. */
export async function existingDirectory(path: string, field: string): Promise<string> {
  if (!isAbsolute(path))
    throw new CapstanError(
      "cwd_missing",
      `${field}: ${JSON.stringify(path)} is not an absolute path. Use an absolute path on the server's machine.`,
    );
  const real = await realpath(path).catch(() => undefined);
  const isThere = real !== undefined && (await stat(real).catch(() => undefined))?.isDirectory() === true;
  if (!isThere)
    throw new CapstanError(
      "cwd_missing",
      `${field}: the directory ${path} does not exist on the server's machine. Create it there, or use another.`,
    );
  return real;
}

/**
 * The directory that a caller chose for a session. Callers who may not create environments are limited to the project's
 * own directory and `given`, without other projects and credentials inside them.
 */
export async function chosenDirectory(
  deps: ApiDeps,
  { caller, cwd, given }: { readonly caller: Caller; readonly cwd: string; readonly given?: string | null | undefined },
): Promise<string> {
  const roots = [await projectDirectory(deps, caller.project), given].filter((root) => root != null);
  if (caller.role === "admin") {
    await existingDirectory(cwd, "cwd");
    return cwd;
  }
  // Do not reveal whether a path elsewhere exists.
  const real = await existingDirectory(cwd, "cwd").catch(() => undefined);
  const resolved = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  const isOpen = (root: string | undefined): boolean =>
    root !== undefined && real !== undefined && isInside(real, root) && isSameProject(deps, real, root);
  if (real !== undefined && resolved.some(isOpen) && !(await isSecretDirectory(deps, real))) return real;
  const where =
    roots.length === 0
      ? "a saved environment"
      : `a directory within ${roots.join(" or ")} that belongs to the same project and contains no credentials`;
  throw new CapstanError(
    "not_allowed",
    `cwd: with the role ${caller.role}, a session must work in ${where}, which ${cwd} is not. Omit cwd, or use an admin key.`,
    { data: { role: caller.role, wanted: "admin" } },
  );
}

/** A project may be inside another one and has its own keys. */
function isSameProject({ projectOf }: ApiDeps, directory: string, root: string): boolean {
  return projectOf === undefined || projectOf(directory) === projectOf(root);
}

/** Directories of credentials, and Capstan's own files. */
async function isSecretDirectory({ policy }: ApiDeps, directory: string): Promise<boolean> {
  if (policy === undefined) return false;
  const secret = [policy.capstanHome, ...CREDENTIAL_PATHS.map((path) => join(policy.home, path))];
  const resolved = await Promise.all(secret.map((path) => realpath(path).catch(() => path)));
  return resolved.some((path) => isInside(directory, path));
}
