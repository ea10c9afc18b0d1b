import { resolve } from "node:path";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { PreparedWorkspace, WorkspacePlace } from "../../core/ports/workspace.ts";
import { realPath } from "./real-path.ts";
import type { StartOptions } from "../session-options.ts";

/** Where a session's files are. One that works in place may have gone on elsewhere; its files are where it began. */
export function placeOf({ id, cwd, source, environment }: SessionRecord): WorkspacePlace {
  const { kind } = environment.workspace;
  return { sessionId: id, kind, cwd: kind === "in-place" ? source : cwd, source };
}

/** The directory that a session is started in. An empty workspace comes from none; Capstan's own stands for it. */
export function startingPlace({ cwd, environment }: StartOptions, capstanHome: string): string {
  if (cwd !== undefined) return resolve(cwd);
  const workspace = environment?.workspace;
  if (workspace?.kind === "copy" && workspace.mounts.length === 0) return capstanHome;
  throw new CapstanError(
    "invalid_input",
    "The session needs a directory to be started in: give cwd, or an environment with an empty workspace (kind copy, no mounts).",
  );
}

/** Checkpoints are of one directory. */
export function requireOwnPlace(record: SessionRecord): void {
  const { cwd } = placeOf(record);
  if (realPath(cwd) !== realPath(record.cwd))
    throw new CapstanError(
      "checkpoint_failed",
      `The session goes on in ${record.cwd}, and its checkpoints are of ${cwd}. What it changes there cannot be brought back. Go on with it in ${cwd}, or start a new session.`,
    );
}

/** What the log says of a workspace. One that was there before needs no word. */
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

/** A workspace that started empty has no files of the host behind it. */
export function requireSource({ id, cwd, source, environment }: SessionRecord): void {
  if (environment.workspace.kind === "in-place" || source !== cwd) return;
  throw new CapstanError(
    "workspace_invalid",
    `The workspace of session ${id} was made from nothing, so there is nowhere to apply its changes to. Take its files with: capstan export ${id} --zip <file>`,
  );
}
