import { CapstanError, messageOf } from "../../core/errors.ts";
import type { WorkspaceKind } from "../../core/environment/environment.ts";
import type { FilesState } from "../../core/session/state-files.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { LeftOut } from "../../core/ports/workspace.ts";
import { type FilesDeps, type RestingSession, RestingSessions } from "./resting-sessions.ts";
import { loadState } from "../log/stored-state.ts";
import { placeOf } from "../paths/session-place.ts";

export interface StoredWorkspace {
  readonly sessionId: string;
  /** Undefined when the store knows no such session: a host died while it made the workspace, or the session was deleted. */
  readonly kind: WorkspaceKind | undefined;
  readonly cwd: string;
  readonly source: string;
  /** On disk, checkpoints included. */
  readonly bytes: number;
  /** Milliseconds since the epoch; when the id was made, where there is no session. */
  readonly lastActivityAt: number;
  /** Files were changed that nobody has taken out. What changed since the last turn is found when it is removed. */
  readonly hasUnexportedChanges: boolean;
}

/** What sessions have on this disk: their workspaces and checkpoints. */
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
      const place = session ? placeOf(session) : { sessionId, kind: "copy" as const, cwd: "", source: "" };
      found.push({
        sessionId,
        kind: session && place.kind,
        cwd: place.cwd,
        source: place.source,
        bytes: await workspaces.size(place),
        lastActivityAt: session?.lastActivityAt ?? madeAt(sessionId),
        // Of one that the store does not know nobody can say what is in it: the store may be an older one.
        hasUnexportedChanges: session === undefined || (await this.#isUntaken(session)),
      });
    }
    return found.toSorted((a, b) => b.bytes - a.bytes);
  }

  /** Rejects with `workspace_conflict` while there are changes that nobody has taken out, unless they may be lost. */
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
      // What was begun is gone on with: half of it may be gone.
      if (log.state.files.removed !== true) {
        if (!discardChanges) await this.#refuseUntaken(resting);
        await log.append([{ type: "capstan.workspace_removed" }]);
      }
      await workspaces.remove(placeOf(record));
    });
  }

  async #isUntaken(session: SessionRecord): Promise<boolean> {
    const place = placeOf(session);
    const { files } = (await loadState(this.#deps.store, session.id)).state;
    if (place.kind === "in-place" || files.removed === true) return false;
    return files.start === undefined ? this.#deps.workspaces.changedSince(place, session.createdAt) : isUntaken(files);
  }

  async #refuseUntaken({ record, log, checkpoints, workspace }: RestingSession): Promise<void> {
    const place = placeOf(record);
    if (place.kind === "in-place") return;
    const copy = `Copy what you need from ${place.cwd}`;
    // Without checkpoints only this can be told: whether the files are as they were made, before the session was.
    if (log.state.files.start === undefined) {
      if (!(await this.#deps.workspaces.changedSince(place, record.createdAt))) return;
      throw untaken(record.id, `files in its workspace were changed, and no checkpoint says how. ${copy}`);
    }
    // What was changed since the last checkpoint, by whomever, counts too.
    await checkpoints.take({ reason: "request" }).catch((thrown: unknown) => {
      throw untaken(record.id, `its files cannot be compared with its checkpoints: ${messageOf(thrown)} ${copy}`);
    });
    const { start, last } = log.state.files;
    // Two checkpoints may be of the same files.
    if (isUntaken(log.state.files) && (await workspace.diff({ from: start.commit, to: last?.commit })).length > 0)
      throw untaken(record.id);
    // A socket or a pipe holds nothing.
    const lost = (await workspace.leftOut(record.createdAt)).filter(({ why }) => why !== "not a file");
    if (lost.length > 0) throw untaken(record.id, `${named(lost)}: in no checkpoint, and so in no export. ${copy}`);
  }
}

function named(lost: readonly LeftOut[]): string {
  const more = lost.length - NAMED;
  const names = lost.slice(0, NAMED).map(({ path, why }) => `${path} (${why})`);
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const NAMED = 5;

const OF_NOBODY =
  "this store does not know its session, so nobody can say whether its files were taken over. Copy what you need from the directory of that name in workspaces of Capstan's home";

/** Ids begin with the time of their making. */
function madeAt(sessionId: string): number {
  return Number.parseInt(/_([\da-f]{12})/.exec(sessionId)?.[1] ?? "0", 16);
}

function isUntaken({ start, last, exported }: FilesState): boolean {
  return start !== undefined && last !== undefined && last.commit !== start.commit && last.commit !== exported;
}

/** `why`: what is in the way, and what to do, where an export does not help. */
function untaken(sessionId: string, why?: string): CapstanError {
  const what =
    why === undefined
      ? `The agent of session ${sessionId} changed files that nobody has taken over. Take them with capstan apply or capstan export`
      : `Session ${sessionId} keeps its workspace: ${why}`;
  return new CapstanError("workspace_conflict", `${what}, or say that they may be lost (--discard-changes).`, {
    data: { sessionId, ...(why !== undefined && { why }) },
  });
}
