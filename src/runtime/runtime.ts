import { parseEnvironment } from "../core/environment/environment.ts";
import type { LoggedEvent, Preview } from "../core/events/events.ts";
import type {
  ChainCheck,
  EventRange,
  SessionQuery,
  SessionRecord,
  SessionResource,
  SessionSummary,
} from "../core/ports/store.ts";
import type { Recovered } from "./recovery/abandoned-sessions.ts";
import { Attendance, type WatchOptions } from "./recovery/session-driver.ts";
import { toLoggedEvent } from "./log/feed.ts";
import { Files } from "./files/files.ts";
import { agentForSession } from "./recovery/started-agent.ts";
import { copyHistory } from "./files/fork.ts";
import { KeptSessions } from "./files/session-archive.ts";
import { copyFiles, forkLocation } from "./files/fork-files.ts";
import { Grants, Inbox } from "./approvals/inbox.ts";
import { inTurn, type SessionState } from "../core/session/state.ts";
import type { GivenFile, SessionUpdate } from "./session-options.ts";
import type { Session } from "./session.ts";
import type { ForkOptions, ResumeOptions, StartOptions } from "./session-options.ts";
import type { FilesDeps } from "./files/resting-sessions.ts";
import { StoredWorkspaces } from "./files/stored-workspaces.ts";
import { OpenSessions, type RuntimeDeps } from "./open-sessions.ts";
import { loadState, stateAt } from "./log/stored-state.ts";
import { startingDirectory } from "./paths/session-location.ts";
import { TakeOvers } from "./recovery/take-overs.ts";

/** What a host is doing right now. */
export interface HostLoad {
  /** Sessions that it drives. */
  readonly sessions: number;
  readonly turns: number;
  readonly waitingTurns: number;
  /** Agent processes, those that wait for a message, and the memory of all. */
  readonly processes: number;
  readonly idleProcesses: number;
  readonly processBytes: number;
}

/** All sessions that this host drives. */
export class Runtime {
  readonly approvals: Inbox;
  readonly grants: Grants;
  readonly files: Files;
  readonly workspaces: StoredWorkspaces;
  readonly #deps: RuntimeDeps;
  readonly #open: OpenSessions;
  readonly #takeOvers: TakeOvers;
  readonly #kept: KeptSessions;
  readonly #attendance: Attendance;

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
    this.#open = new OpenSessions(deps);
    this.#takeOvers = new TakeOvers(deps, this.#open);
    const onAnswer = async (sessionId: string): Promise<void> => this.#open.get(sessionId)?.noteAnswer();
    this.approvals = new Inbox({ ...deps, onAnswer });
    this.grants = new Grants(deps.store);
    const ofFiles: FilesDeps = {
      ...deps,
      feed: (id) => this.#open.feed(id),
      findDriven: (id) => this.#open.get(id),
      locks: this.#open.locks,
    };
    this.files = new Files(ofFiles);
    this.workspaces = new StoredWorkspaces(ofFiles);
    this.#kept = new KeptSessions({ ...ofFiles, stateRoot: deps.stateRoot });
    this.#attendance = new Attendance(this.#open, {
      ...deps,
      listAbandoned: () => this.abandoned(),
      takeOver: (id) => this.#takeOvers.takeAlone(id),
    });
  }

  async startSession<Output = unknown>(options: StartOptions<Output>): Promise<Session<Output>> {
    const { agent, ...steps } = agentForSession(options, this.#deps.engines);
    const session = await this.#open.create(
      {
        agent,
        environment: parseEnvironment(options.environment ?? {}),
        source: startingDirectory(options, this.#deps.capstanHome),
        title: options.title ?? null,
        project: options.project ?? "default",
        metadata: options.metadata ?? {},
        agentRef: options.agentRef ?? null,
        environmentId: options.environmentId ?? null,
        forkedFrom: null,
      },
      options,
      steps,
    );
    session.warm();
    return session;
  }

  /** Takes a session over, wherever it was left, and brings it into a state from which it can continue. */
  async resumeSession<Output = unknown>(
    sessionId: string,
    options: ResumeOptions<Output> = {},
  ): Promise<Session<Output>> {
    const session = await this.#takeOvers.take(sessionId, options);
    session.warm();
    return session;
  }

  /** A new session with the history of another up to `at`; it inherits the conversation, not the spend. */
  async forkSession<Output = unknown>(sessionId: string, options: ForkOptions<Output> = {}): Promise<Session<Output>> {
    const parent = await this.#takeOvers.require(sessionId);
    const at = options.at ?? (await this.#deps.store.head(sessionId));
    const { agent, title, project, metadata, agentRef, environmentId } = parent;
    const { environment, source } = await forkLocation(this.#deps.store, parent, options.cwd);
    const session = await this.#open.create(
      {
        agent,
        environment,
        source,
        title,
        project,
        metadata,
        agentRef,
        environmentId,
        forkedFrom: { sessionId, seq: at },
      },
      { ...options, inherited: (await this.state(sessionId)).programs },
      {
        prepare: async ({ log, record, workspace }) => {
          await copyHistory(this.#deps.store, { from: sessionId, upTo: at, to: record.id, log });
          await copyFiles(this.#deps, { parent, upTo: at, record, log, workspace });
        },
      },
    );
    session.warm();
    return session;
  }

  /**
   * The session that this host drives. One that nobody drives is taken over, and continues where it was cut off. Rejects
   * with `session_busy` while another process drives it.
   */
  async attend(sessionId: string): Promise<Session> {
    return this.#attendance.attend(sessionId);
  }

  /** Undefined when there is none. */
  session(sessionId: string): Promise<SessionRecord | undefined> {
    return this.#deps.store.session(sessionId);
  }

  /** A session as lists show it; undefined when there is none. */
  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return (await this.#deps.store.sessions({ id: sessionId }))[0];
  }

  /** The last sequence number of a session's log. */
  head(sessionId: string): Promise<number> {
    return this.#deps.store.head(sessionId);
  }

  /** The state of a session, whoever drives it. */
  async state(sessionId: string): Promise<SessionState> {
    await this.#takeOvers.require(sessionId);
    return this.#open.get(sessionId)?.state ?? (await loadState(this.#deps.store, sessionId)).state;
  }

  /** The state as it was right after an event of the log. */
  async stateAt(sessionId: string, seq: number): Promise<SessionState> {
    await this.#takeOvers.require(sessionId);
    return stateAt(this.#deps.store, sessionId, seq);
  }

  /** Changes a session's title, metadata and limits, and stores `session.updated`. */
  async update(sessionId: string, change: SessionUpdate): Promise<SessionRecord> {
    const record = await this.#kept.update(sessionId, change);
    const driven = this.#open.get(sessionId);
    // A process keeps the limit that it was started with.
    if (change.maxUsd !== undefined && driven !== undefined && !inTurn(driven.state)) await driven.hibernate();
    return record;
  }

  /** Interrupts the session's turn and makes the session read-only. */
  async archive(sessionId: string): Promise<SessionRecord> {
    const { archivedAt } = await this.#takeOvers.require(sessionId);
    if (archivedAt === null) await this.#takeOvers.letGo(sessionId, await this.state(sessionId));
    return this.#kept.archive(sessionId);
  }

  /** Interrupts the session's turn, erases what was said and done, and removes its workspace. */
  async delete(sessionId: string): Promise<void> {
    await this.#takeOvers.letGo(sessionId, await this.state(sessionId));
    await this.#kept.delete(sessionId);
  }

  /** Puts a file of the host into the workspace of a session that is not in a turn. */
  addFile(sessionId: string, file: GivenFile): Promise<SessionResource> {
    return this.#kept.addFile(sessionId, file);
  }

  /** Throws `too_many` when the host takes no more turns; `data.retryAfterSeconds` says when to try again. */
  requireRoom(): void {
    this.#deps.admission.requireRoom();
  }

  /** Calls the listener with every event and preview of every session that this host drives. For one listener. */
  observe(listener: (sessionId: string, item: LoggedEvent | Preview) => void): void {
    this.#open.onPublish = listener;
  }

  /** What the host is doing right now. */
  load(): HostLoad {
    const { admission, processes } = this.#deps;
    return {
      sessions: this.#open.all().length,
      turns: admission.running,
      waitingTurns: admission.waiting,
      processes: processes.count,
      idleProcesses: processes.idle,
      processBytes: processes.bytes,
    };
  }

  /**
   * Looks after all sessions of the store until `signal` aborts: continues those whose host died or whose answer has
   * arrived, releases those that have nothing to do, and ends processes that are old or hold too much memory.
   */
  watch(options: WatchOptions): Promise<void> {
    return this.#attendance.watch(options);
  }

  /**
   * Ends the host so that the next one can continue. Turns get this many milliseconds to finish; one that does not is cut
   * off, and whoever attends to its session continues it.
   */
  async suspend(graceMs: number): Promise<void> {
    await this.#attendance.suspend(graceMs);
    await this.close();
  }

  sessions(query?: SessionQuery): Promise<readonly SessionSummary[]> {
    return this.#deps.store.sessions(query);
  }

  /** Follows a session from a sequence number on, whichever process drives it. Previews come only from this process. */
  async *events(
    sessionId: string,
    {
      after = 0,
      signal = new AbortController().signal,
    }: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<LoggedEvent | Preview> {
    await this.#takeOvers.require(sessionId);
    const live = (): boolean => this.#open.get(sessionId) !== undefined;
    try {
      yield* this.#open.feed(sessionId).subscribe(this.#deps.store, { sessionId, after, signal, live });
    } finally {
      this.#open.tidy(sessionId);
    }
  }

  /** The events that are stored now, after `after`; for a long log in pages of `limit`. */
  async read(sessionId: string, range: EventRange = {}): Promise<readonly LoggedEvent[]> {
    await this.#takeOvers.require(sessionId);
    const events = await this.#deps.store.events(sessionId, range);
    // Return only what is on disk.
    await this.#deps.store.sync();
    return events.map(toLoggedEvent);
  }

  /** Checks the hash chain of a session's log, and returns the first place where it is broken. */
  async verify(sessionId: string): Promise<ChainCheck> {
    return this.#deps.store.verify(sessionId);
  }

  /** Settles every session whose host died in a turn, then continues that turn or ends it. */
  recover(onCrash: "continue" | "stop"): Promise<readonly Recovered[]> {
    return this.#takeOvers.recover(onCrash);
  }

  /** Sessions whose host died in a turn and that nobody has taken over. */
  abandoned(): Promise<readonly string[]> {
    return this.#takeOvers.listAbandoned();
  }

  /** Ends every session's agent process, releases the sessions, and closes what the host opened. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#open.all().map((session) => session.close()));
    await this.#deps.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
