import type { Clock, Ids } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Redactor } from "../../core/redaction/redaction.ts";
import { inTurn, type SessionState } from "../../core/session/state.ts";
import type { LeaseOwner, SessionRecord, Store } from "../../core/ports/store.ts";
import type { WorkLimits, Workspace, Workspaces } from "../../core/ports/workspace.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { Feed } from "../log/feed.ts";
import { holdLease } from "../log/lease.ts";
import { Occupancy } from "../engine/directory-claim.ts";
import { finishRewind, type RestingFiles } from "./rewind.ts";
import type { SessionLocks } from "../log/session-locks.ts";
import { SessionLog } from "../log/session-log.ts";
import { workspaceLocation } from "../paths/session-location.ts";

export type RestingSession = RestingFiles;

/**
 * `export` reads the files. `rewind` also changes them, so the session's process is ended, no turn may be waiting for
 * an answer, and no other session may work in the directory. `removal` deletes the files even if a turn is waiting.
 */
export type RestPurpose = "export" | "rewind" | "removal";

export interface FilesDeps {
  readonly store: Store;
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly owner: LeaseOwner;
  readonly isGone: (owner: LeaseOwner) => boolean;
  readonly redactor: Redactor;
  /** Notifies the session's followers. */
  readonly feed: (sessionId: string) => Feed;
  /** The session, if this host drives it. */
  readonly findDriven: (sessionId: string) => DrivenFiles | undefined;
  readonly locks: SessionLocks;
}

interface DrivenFiles {
  write<Result>(work: (log: SessionLog) => Promise<Result>): Promise<Result>;
  atRest<Result>(purpose: RestPurpose, work: (resting: RestingSession) => Promise<Result>): Promise<Result>;
}

/** Gives exclusive access to a session's files while no turn is running. */
export class RestingSessions {
  readonly #deps: FilesDeps;

  constructor(deps: FilesDeps) {
    this.#deps = deps;
  }

  async require(sessionId: string): Promise<SessionRecord> {
    const record = await this.#deps.store.session(sessionId);
    if (record === undefined)
      throw new CapstanError("not_found", `Session ${sessionId} was not found. List the sessions to find its id.`);
    return record;
  }

  /** Read-only access, in any state of the session. */
  async look(
    sessionId: string,
    limits?: WorkLimits,
  ): Promise<{ readonly record: SessionRecord; readonly workspace: Workspace }> {
    const record = await this.require(sessionId);
    return { record, workspace: this.#open(record, limits) };
  }

  /** Writes to the session's log, whether or not this host drives the session. */
  async write<Result>(sessionId: string, work: (log: SessionLog) => Promise<Result>): Promise<Result> {
    return this.#either(sessionId, {
      whenDriven: (session) => session.write(work),
      whenAtRest: ({ log }) => work(log),
    });
  }

  async use<Result>(
    sessionId: string,
    purpose: Exclude<RestPurpose, "removal">,
    work: (resting: RestingSession) => Promise<Result>,
  ): Promise<Result> {
    const { store, isGone } = this.#deps;
    return this.#either(sessionId, {
      whenDriven: (session) => session.atRest(purpose, work),
      whenAtRest: (resting) =>
        whileAlone({ ...resting, store, isGone }, purpose, async () => {
          await finishRewind(resting);
          return work(resting);
        }),
    });
  }

  /** Access for removal: also while a turn is waiting, after its host died, and when a rewind is unfinished. */
  async useToRemove<Result>(sessionId: string, work: (resting: RestingSession) => Promise<Result>): Promise<Result> {
    return this.#either(sessionId, { whenDriven: (session) => session.atRest("removal", work), whenAtRest: work });
  }

  /** Uses the session that this host drives, or prevents one from being opened meanwhile. */
  async #either<Result>(
    sessionId: string,
    {
      whenDriven,
      whenAtRest,
    }: {
      readonly whenDriven: (session: DrivenFiles) => Promise<Result>;
      readonly whenAtRest: (resting: RestingSession) => Promise<Result>;
    },
  ): Promise<Result> {
    const session = this.#deps.findDriven(sessionId);
    if (session !== undefined) return whenDriven(session);
    const found = await this.#deps.locks.run(sessionId, async () => {
      const come = this.#deps.findDriven(sessionId);
      return come === undefined ? { result: await this.#hold(sessionId, whenAtRest) } : come;
    });
    return "result" in found ? found.result : whenDriven(found);
  }

  /** Keeps other processes from driving the session meanwhile. */
  async #hold<Result>(sessionId: string, work: (resting: RestingSession) => Promise<Result>): Promise<Result> {
    const record = await this.require(sessionId);
    const { store, owner, isGone, clock, ids, redactor } = this.#deps;
    const held = await holdLease(store.leases, { sessionId, owner, isGone });
    try {
      const feed = this.#deps.feed(sessionId);
      const log = await SessionLog.open({ store, sessionId, lease: held.lease, feed, clock, ids, redactor });
      const workspace = this.#open(record);
      const checkpoints = new Checkpoints({ record, log, ids, workspace });
      return await work({ record, log, ids, workspace, checkpoints });
    } finally {
      await held.release();
    }
  }

  #open(record: SessionRecord, limits?: WorkLimits): Workspace {
    return this.#deps.workspaces.open(workspaceLocation(record), record.environment.checkpoints, limits);
  }
}

/** Does the work while no session has a turn in progress in the directory. */
export async function whileAlone<Result>(
  session: ConstructorParameters<typeof Occupancy>[0],
  purpose: RestPurpose,
  work: () => Promise<Result>,
): Promise<Result> {
  requireRest(session.record.id, session.log.state, purpose);
  const occupancy = new Occupancy(session);
  if (purpose !== "removal") await occupancy.takeNow();
  try {
    return await work();
  } finally {
    await occupancy.release();
  }
}

function requireRest(sessionId: string, state: SessionState, purpose: RestPurpose): void {
  if (state.files.removed === true && purpose !== "removal")
    throw new CapstanError(
      "not_found",
      `The workspace of session ${sessionId} was removed together with its checkpoints.`,
    );
  if (state.status === "running" || state.status === "rescheduling")
    throw new CapstanError(
      "session_busy",
      `Session ${sessionId} is in a turn. Interrupt it or wait until it ends. If its host died, run: capstan sessions recover`,
      { retryable: true },
    );
  if (purpose !== "removal" && inTurn(state))
    throw new CapstanError(
      "approval_pending",
      `Session ${sessionId} is waiting for an answer. Answer it or interrupt the turn, then try again.`,
    );
}
