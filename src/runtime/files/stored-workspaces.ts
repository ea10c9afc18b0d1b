import { CapstanError, messageOf } from "../../core/errors.ts";
import type { WorkspaceKind } from "../../core/environment/environment.ts";
import type { FilesState } from "../../core/session/state-files.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { LeftOut } from "../../core/ports/workspace.ts";
import { type FilesDeps, type RestingSession, RestingSessions } from "./resting-sessions.ts";
import { loadState } from "../log/stored-state.ts";
import { workspaceLocation } from "../paths/session-location.ts";

export interface StoredWorkspace {
  readonly sessionId: string;
  /**
   * Undefined if the store has no such session: the host died while creating the workspace, or the session was deleted.
   */
  readonly kind: WorkspaceKind | undefined;
  readonly cwd: string;
  readonly source: string;
  /** On disk, checkpoints included. */
  readonly bytes: number;
  /** Milliseconds since the epoch. Without a session: when the id was created. */
  readonly lastActivityAt: number;
  /**
   * Whether there are changes that were neither exported nor applied. Changes since the last turn are checked on
   * removal.
   */
  readonly hasUnexportedChanges: boolean;
}

/** The workspaces and checkpoints of sessions on this disk. */
export class StoredWorkspaces {
  readonly #deps: FilesDeps;
  readonly #resting: RestingSessions;

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.#resting = new RestingSessions(deps);
  }

  /** Largest first. */
  async list(): Promise<readonly StoredWorkspace[]> {
    const { workspaces, store } = this.#deps;
    const sessions = new Map((await store.sessions()).map((session) => [session.id, session]));
    const found: StoredWorkspace[] = [];
    for (const sessionId of await workspaces.sessionIds()) {
      const session = sessions.get(sessionId);
      const place = session ? workspaceLocation(session) : { sessionId, kind: "copy" as const, cwd: "", source: "" };
      found.push({
        sessionId,
        kind: session && place.kind,
        cwd: place.cwd,
        source: place.source,
        bytes: await workspaces.size(place),
        lastActivityAt: session?.lastActivityAt ?? madeAt(sessionId),
        // For an unknown session, assume unexported changes: the store may be an older copy.
        hasUnexportedChanges: session === undefined || (await this.#isUntaken(session)),
      });
    }
    return found.toSorted((a, b) => b.bytes - a.bytes);
  }

  /** Rejects with `workspace_conflict` if changes were neither exported nor applied, unless they may be discarded. */
  async remove(
    sessionId: string,
    { discardChanges = false }: { readonly discardChanges?: boolean } = {},
  ): Promise<void> {
    const { workspaces, store } = this.#deps;
    if ((await store.session(sessionId)) === undefined) {
      if (!discardChanges) throw untaken(sessionId, OF_NOBODY);
      return workspaces.remove({ sessionId, kind: "copy", cwd: "", source: "" });
    }
    await this.#resting.useToRemove(sessionId, async (resting) => {
      const { record, log } = resting;
      // Finish a removal that was started: some of the files may be gone.
      if (log.state.files.removed !== true) {
        if (!discardChanges) await this.#refuseUntaken(resting);
        await log.append([{ type: "capstan.workspace_removed" }]);
      }
      await workspaces.remove(workspaceLocation(record));
    });
  }

  async #isUntaken(session: SessionRecord): Promise<boolean> {
    const place = workspaceLocation(session);
    const { files } = (await loadState(this.#deps.store, session.id)).state;
    if (place.kind === "in-place" || files.removed === true) return false;
    return files.start === undefined ? this.#deps.workspaces.changedSince(place, session.createdAt) : isUntaken(files);
  }

  async #refuseUntaken({ record, log, checkpoints, workspace }: RestingSession): Promise<void> {
    const place = workspaceLocation(record);
    if (place.kind === "in-place") return;
    const copy = `Copy what you need from ${place.cwd}`;
    // Without checkpoints, only check whether the files changed since the workspace was created.
    if (log.state.files.start === undefined) {
      if (!(await this.#deps.workspaces.changedSince(place, record.createdAt))) return;
      throw untaken(record.id, `files in its workspace were changed, and there is no checkpoint to show how. ${copy}`);
    }
    // Include changes since the last checkpoint, whoever made them.
    await checkpoints.take({ reason: "request" }).catch((thrown: unknown) => {
      throw untaken(record.id, `its files cannot be compared with its checkpoints: ${messageOf(thrown)} ${copy}`);
    });
    const { start, last } = log.state.files;
    // Two checkpoints may have the same content.
    if (isUntaken(log.state.files) && (await workspace.diff({ from: start.commit, to: last?.commit })).length > 0)
      throw untaken(record.id);
    // Sockets and pipes have no content to lose.
    const lost = (await workspace.leftOut(record.createdAt)).filter(({ why }) => why !== "not a file");
    if (lost.length > 0)
      throw untaken(record.id, `${listLost(lost)}: not in any checkpoint, so no export contains it. ${copy}`);
  }
}

function listLost(lost: readonly LeftOut[]): string {
  const more = lost.length - NAMED;
  const names = lost.slice(0, NAMED).map(({ path, why }) => `${path} (${why})`);
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const NAMED = 5;

const OF_NOBODY =
  "its session is not in this store, so its changes cannot be checked. Copy what you need from the directory of the same name in the workspaces directory of Capstan's home";

/** Ids begin with their creation time. */
function madeAt(sessionId: string): number {
  return Number.parseInt(/_([\da-f]{12})/.exec(sessionId)?.[1] ?? "0", 16);
}

function isUntaken({ start, last, exported }: FilesState): boolean {
  return start !== undefined && last !== undefined && last.commit !== start.commit && last.commit !== exported;
}

/** `why`: the reason and the remedy, if an export does not help. */
function untaken(sessionId: string, why?: string): CapstanError {
  const what =
    why === undefined
      ? `Session ${sessionId} has changes that were neither applied nor exported. Run capstan apply or capstan export`
      : `Session ${sessionId} keeps its workspace: ${why}`;
  return new CapstanError("workspace_conflict", `${what}, or discard them with --discard-changes.`, {
    data: { sessionId, ...(why !== undefined && { why }) },
  });
}
