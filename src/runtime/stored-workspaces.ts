import { CapstanError } from "../core/errors.ts";
import type { WorkspaceKind } from "../core/environment.ts";
import type { FilesState } from "../core/state-files.ts";
import { type FilesDeps, RestingSessions } from "./resting-sessions.ts";
import { loadState } from "./session-log.ts";
import { placeOf } from "./session-place.ts";

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
  /** The agent changed files that nobody has taken out. */
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
        hasUnexportedChanges: session !== undefined && place.kind !== "in-place" && (await this.#isUntaken(sessionId)),
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
    if ((await store.session(sessionId)) === undefined)
      return workspaces.remove({ sessionId, kind: "copy", cwd: "", source: "" });
    await this.#resting.use(sessionId, { restart: true, alone: false }, async ({ record, log, checkpoints }) => {
      const place = placeOf(record);
      // What was changed since the last checkpoint, by whomever, counts too.
      if (place.kind !== "in-place" && log.state.files.start !== undefined && !discardChanges) {
        await checkpoints.take({ reason: "request" });
        if (isUntaken(log.state.files)) throw untaken(sessionId);
      }
      await log.append([{ type: "capstan.workspace_removed" }]);
      await workspaces.remove(place);
    });
  }

  async #isUntaken(sessionId: string): Promise<boolean> {
    const { state } = await loadState(this.#deps.store, sessionId);
    return isUntaken(state.files);
  }
}

/** Ids begin with the time of their making. */
function madeAt(sessionId: string): number {
  return Number.parseInt(/_([\da-f]{12})/.exec(sessionId)?.[1] ?? "0", 16);
}

function isUntaken({ start, last, exported }: FilesState): boolean {
  return start !== undefined && last !== undefined && last.commit !== start.commit && last.commit !== exported;
}

function untaken(sessionId: string): CapstanError {
  return new CapstanError(
    "workspace_conflict",
    `The agent of session ${sessionId} changed files that nobody has taken over. Take them with capstan apply or capstan export, or say that they may be lost (--discard-changes).`,
    { data: { sessionId } },
  );
}
