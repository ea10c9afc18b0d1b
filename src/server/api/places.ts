import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/inside.ts";
import { CREDENTIAL_PATHS } from "../../core/environment/sandbox.ts";
import type { Caller } from "../http/context.ts";
import type { ApiDeps } from "./deps.ts";

/** Where a project's sessions work that name no other place; undefined when nobody says. */
export async function projectDirectory({ defaults }: ApiDeps, project: string): Promise<string | undefined> {
  if (defaults !== undefined) return (await defaults(project)).directory;
  return isAbsolute(project) ? project : undefined;
}

/** An existing directory of this machine, links resolved. `field` is what the caller knows it by. */
export async function existingDirectory(path: string, field: string): Promise<string> {
  if (!isAbsolute(path))
    throw new CapstanError(
      "cwd_missing",
      `${field}: ${JSON.stringify(path)} is not an absolute path. Name a directory of the server's machine from its root on.`,
    );
  const real = await realpath(path).catch(() => undefined);
  const isThere = real !== undefined && (await stat(real).catch(() => undefined))?.isDirectory() === true;
  if (!isThere)
    throw new CapstanError(
      "cwd_missing",
      `${field}: there is no directory ${path} on the server's machine. Make it there, or name another.`,
    );
  return real;
}

/**
 * The directory that a caller wants a session to work in. Whoever may not make environments stays in those that were
 * made for the project: its own directory, and `given`; and there, out of other projects and of credentials.
 */
export async function chosenPlace(
  deps: ApiDeps,
  { caller, cwd, given }: { readonly caller: Caller; readonly cwd: string; readonly given?: string | null | undefined },
): Promise<string> {
  const roots = [await projectDirectory(deps, caller.project), given].filter((root) => root != null);
  if (caller.role === "admin") {
    await existingDirectory(cwd, "cwd");
    return cwd;
  }
  // What lies elsewhere is none of this caller's business, not even whether it is there.
  const real = await existingDirectory(cwd, "cwd").catch(() => undefined);
  const resolved = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  const isOpen = (root: string | undefined): boolean =>
    root !== undefined && real !== undefined && isInside(real, root) && isSameProject(deps, real, root);
  if (real !== undefined && resolved.some(isOpen) && !(await isSecretPlace(deps, real))) return real;
  const where =
    roots.length === 0
      ? "a stored environment"
      : `a directory within ${roots.join(" or ")} that belongs to the same project and holds no credentials`;
  throw new CapstanError(
    "not_allowed",
    `cwd: with the role ${caller.role} a session works in ${where}, and ${cwd} is none. Leave it out, or use a key with the role admin.`,
    { data: { role: caller.role, wanted: "admin" } },
  );
}

/** A project may lie within another, and has keys of its own. */
function isSameProject({ projectOf }: ApiDeps, directory: string, root: string): boolean {
  return projectOf === undefined || projectOf(directory) === projectOf(root);
}

/** Where people keep credentials, and Capstan its own files. */
async function isSecretPlace({ policy }: ApiDeps, directory: string): Promise<boolean> {
  if (policy === undefined) return false;
  const secret = [policy.capstanHome, ...CREDENTIAL_PATHS.map((path) => join(policy.home, path))];
  const resolved = await Promise.all(secret.map((path) => realpath(path).catch(() => path)));
  return resolved.some((path) => isInside(directory, path));
}
