import { resolve } from "node:path";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { PreparedWorkspace, WorkspaceLocation } from "../../core/ports/workspace.ts";
import { realPath } from "./real-path.ts";
import type { StartOptions } from "../session-options.ts";

/**
 * Where a session's files are. An in-place session may have continued in another directory; its files are where it
 * started.
 */
export function workspaceLocation({ id, cwd, source, environment }: SessionRecord): WorkspaceLocation {
  const { kind } = environment.workspace;
  return { sessionId: id, kind, cwd: kind === "in-place" ? source : cwd, source };
}

/** The directory a session starts in. An empty workspace has no source, so Capstan's home is used. */
export function startingDirectory({ cwd, environment }: StartOptions, capstanHome: string): string {
  if (cwd !== undefined) return resolve(cwd);
  const workspace = environment?.workspace;
  if (workspace?.kind === "copy" && workspace.mounts.length === 0) return capstanHome;
  throw new CapstanError(
    "invalid_input",
    "The session needs a directory to start in. Set cwd, or use an environment with an empty workspace (kind copy, no mounts).",
  );
}

/** Rejects unless the session still works in the directory that its checkpoints belong to. */
export function requireOwnDirectory(record: SessionRecord): void {
  const { cwd } = workspaceLocation(record);
  if (realPath(cwd) !== realPath(record.cwd))
    throw new CapstanError(
      "checkpoint_failed",
      `The session now works in ${record.cwd}, but its checkpoints are of ${cwd}, so its changes cannot be rewound. Continue it in ${cwd}, or start a new session.`,
    );
}

/** The events for a prepared workspace; none if it already existed. */
export function preparedEvents(
  { workspace: { kind } }: EnvironmentDefinition,
  { cwd, source, branch, base, mounts, notes }: PreparedWorkspace,
): readonly EventDraft[] {
  if (kind === "in-place") return [];
  return [
    {
      type: "capstan.workspace_prepared",
      kind,
      cwd,
      source,
      ...(branch !== undefined && { branch }),
      ...(base !== undefined && { base }),
      ...(mounts.length > 0 && { mounts: mounts.map((mount) => ({ ...mount })) }),
      notes: [...notes],
    },
  ];
}

/** Rejects if the workspace started empty and so has no source. */
export function requireSource({ id, cwd, source, environment }: SessionRecord): void {
  if (environment.workspace.kind === "in-place" || source !== cwd) return;
  throw new CapstanError(
    "workspace_invalid",
    `The workspace of session ${id} started empty, so it has no source to apply changes to. Export its files with: capstan export ${id} --zip <file>`,
  );
}
