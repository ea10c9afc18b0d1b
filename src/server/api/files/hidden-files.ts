import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { isInside } from "../../../core/paths/is-inside.ts";
import { isHidden, isKeptFrom, type SandboxPlan } from "../../../core/environment/sandbox.ts";
import type { SessionRecord } from "../../../core/ports/store.ts";
import type { WorkLimits } from "../../../core/ports/workspace.ts";
import type { PatchRequest } from "../../../runtime/files/files.ts";
import { sandboxOf } from "../../../runtime/protected/sandbox.ts";
import { workspaceLocation } from "../../../runtime/paths/session-location.ts";
import type { Caller } from "../../http/context.ts";
import { type ApiDeps, requirePort } from "../deps.ts";

/**
 * Callers see the same files as a sandboxed agent: a session may work in a directory that contains a person's
 * credentials or Capstan's own files, and a project's key must not expose them.
 */
export async function hidingPlan(deps: ApiDeps, record: SessionRecord): Promise<SandboxPlan> {
  const { environment } = record;
  const confined = { ...environment, sandbox: { ...environment.sandbox, mode: "required" as const } };
  const { home, capstanHome, secretFiles } = requirePort(deps.policy, "access to files");
  const { files } = await deps.runtime.state(record.id);
  return sandboxOf(
    {
      record: { ...record, environment: confined },
      home,
      capstanHome,
      stateDir: capstanHome,
      variables: {},
      secretFiles,
    },
    files.workspace?.mounts,
  );
}

interface TakenChanges {
  readonly caller: Caller;
  readonly record: SessionRecord;
  readonly range?: PatchRequest;
  readonly limits: WorkLimits;
}

/** A patch or a branch contains everything that changed, so below admin it must contain no hidden file. */
export async function requireOpenChanges(
  deps: ApiDeps,
  { caller, record, range: { path: only, ...range } = {}, limits }: TakenChanges,
): Promise<void> {
  if (caller.role === "admin") return;
  const { root, plan } = await exportRoot(deps, record);
  const { files } = await deps.runtime.files.diff(record.id, range, limits);
  const taken = files.filter(({ path }) => only === undefined || path === only);
  const found = taken.find(({ path }) => isKeptFrom(join(root, path), plan));
  if (found !== undefined) throw refusal(caller, `the changes of ${found.path}`);
}

/** A zip file contains everything, so below admin there must be no hidden file. */
export async function requireOpenFiles(
  deps: ApiDeps,
  { caller, record, limits }: Omit<TakenChanges, "range">,
): Promise<void> {
  if (caller.role === "admin") return;
  const { root, plan } = await exportRoot(deps, record);
  const isThere = (path: string): boolean =>
    path !== root && isInside(path, root) && isHidden(path, plan) && existsSync(path);
  const found = plan.denyRead.find(isThere) ?? (await secretFileIn(root, plan, limits.signal));
  if (found !== undefined) throw refusal(caller, found.slice(root.length + 1));
}

/** Returns the first hidden file. Skips the .git directory, where git creates no such names. */
async function secretFileIn(directory: string, plan: SandboxPlan, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  // Directories that this user cannot read are not in the zip file either.
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) {
      if (isKeptFrom(path, plan)) return path;
    } else if (entry.name !== ".git") {
      const found = await secretFileIn(path, plan, signal);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Checkpoints belong to the directory where the session started, even if it continued elsewhere. */
async function exportRoot(
  deps: ApiDeps,
  record: SessionRecord,
): Promise<{ readonly root: string; readonly plan: SandboxPlan }> {
  const root = workspaceLocation(record).cwd;
  return { root, plan: await hidingPlan(deps, { ...record, cwd: root }) };
}

function refusal({ role }: Caller, what: string): CapstanError {
  return new CapstanError(
    "not_allowed",
    `The export would contain ${what}, which is hidden because it may be a credential. Only an admin key may export it; this key has the role ${role}. Read other files one by one with GET …/files/content.`,
    { data: { role, wanted: "admin" } },
  );
}
