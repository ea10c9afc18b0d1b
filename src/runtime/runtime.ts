import { resolve } from "node:path";
import { parseAgent } from "../core/agent-definition.ts";
import { parseEnvironment } from "../core/environment.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { LoggedEvent, Preview } from "../core/events.ts";
import type { ChainCheck, EventRange, SessionQuery, SessionRecord, SessionSummary } from "../core/store.ts";
import { abandonedSessions, type Recovered } from "./abandoned.ts";
import { budgetChange } from "./budgets.ts";
import { logged } from "./feed.ts";
import { Files } from "./files.ts";
import { copyHistory } from "./fork.ts";
import { copyFiles, placeOfFork } from "./fork-files.ts";
import { Grants, Inbox } from "./inbox.ts";
import type { DrivenSession, Session } from "./session.ts";
import type { ForkOptions, ResumeOptions, StartOptions } from "./session-options.ts";
import type { FilesDeps } from "./resting-sessions.ts";
import { StoredWorkspaces } from "./stored-workspaces.ts";
import { requireUsable } from "./usable-session.ts";
import { OpenSessions, type RuntimeDeps } from "./open-sessions.ts";
import { placeToGoOn } from "./waiting-place.ts";

/** All sessions that this host drives. */
export class Runtime {
  readonly approvals: Inbox;
  readonly grants: Grants;
  readonly files: Files;
  readonly workspaces: StoredWorkspaces;
  readonly #deps: RuntimeDeps;
  readonly #open: OpenSessions;

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
    this.#open = new OpenSessions(deps);
    const onAnswer = async (sessionId: string): Promise<void> => this.#open.get(sessionId)?.answered();
    this.approvals = new Inbox({ ...deps, onAnswer });
    this.grants = new Grants(deps.store);
    const ofFiles: FilesDeps = {
      ...deps,
      feed: (id) => this.#open.feed(id),
      driven: (id) => this.#open.get(id),
    };
    this.files = new Files(ofFiles);
    this.workspaces = new StoredWorkspaces(ofFiles);
  }

  async startSession<Output = unknown>(options: StartOptions<Output>): Promise<Session<Output>> {
    const session = await this.#open.create(
      {
        agent: parseAgent(options.agent),
        environment: parseEnvironment(options.environment ?? {}),
        source: resolve(options.cwd),
        title: options.title ?? null,
        project: options.project ?? "default",
        forkedFrom: null,
      },
      options,
    );
    session.warm();
    return session;
  }

  /** Takes a session over, wherever it was left, and brings it back to a state it can go on from. */
  async resumeSession<Output = unknown>(
    sessionId: string,
    options: ResumeOptions<Output> = {},
  ): Promise<Session<Output>> {
    const session = await this.#takeOver(sessionId, options);
    session.warm();
    return session;
  }

  async #takeOver<Output>(sessionId: string, options: ResumeOptions<Output>): Promise<DrivenSession<Output>> {
    const stored = await this.#require(sessionId);
    const record = { ...stored, cwd: await placeToGoOn(this.#deps.store, stored, options.cwd) };
    requireUsable(this.#deps, record, options);
    const budget = options.budget && parseAgent({ ...record.agent, budget: options.budget }).budget;
    const session = await this.#open.drive(
      record,
      options,
      async ({ log }) => void (await log.append(budgetChange(budget))),
    );
    await session.recover(options.onCrash ?? "continue").catch(async (thrown: unknown) => {
      await session.close().catch(() => {});
      throw thrown;
    });
    return session;
  }

  /** A new session with the history of another up to `at`; it inherits the conversation, not the spend. */
  async forkSession<Output = unknown>(sessionId: string, options: ForkOptions<Output> = {}): Promise<Session<Output>> {
    const parent = await this.#require(sessionId);
    const at = options.at ?? (await this.#deps.store.head(sessionId));
    const { agent, title, project } = parent;
    const { environment, source } = await placeOfFork(this.#deps.store, parent, options.cwd);
    const session = await this.#open.create(
      { agent, environment, source, title, project, forkedFrom: { sessionId, seq: at } },
      options,
      async ({ log, record, workspace }) => {
        await copyHistory(this.#deps.store, { from: sessionId, upTo: at, to: record.id, log });
        await copyFiles(this.#deps, { parent, upTo: at, record, log, workspace });
      },
    );
    session.warm();
    return session;
  }

  sessions(query?: SessionQuery): Promise<readonly SessionSummary[]> {
    return this.#deps.store.sessions(query);
  }

  /** Follows a session from a sequence number on, whichever process drives it. Previews come only from this one. */
  async *events(
    sessionId: string,
    {
      after = 0,
      signal = new AbortController().signal,
    }: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<LoggedEvent | Preview> {
    await this.#require(sessionId);
    const live = (): boolean => this.#open.get(sessionId) !== undefined;
    yield* this.#open.feed(sessionId).subscribe(this.#deps.store, { sessionId, after, signal, live });
  }

  /** The events that are stored now, after `after`; for a long log in pages of `limit`. */
  async read(sessionId: string, range: EventRange = {}): Promise<readonly LoggedEvent[]> {
    await this.#require(sessionId);
    return (await this.#deps.store.events(sessionId, range)).map(logged);
  }

  /** Walks the hash chain of a session's log, and tells the first place where it does not hold. */
  async verify(sessionId: string): Promise<ChainCheck> {
    return this.#deps.store.verify(sessionId);
  }

  /** Settles every session whose host died in a turn, then goes on with that turn or ends it. */
  async recover(onCrash: "continue" | "stop"): Promise<readonly Recovered[]> {
    const recovered: Recovered[] = [];
    for (const id of await this.abandoned()) recovered.push(await this.#recoverOne(id, onCrash));
    return recovered;
  }

  /** Sessions whose host died in a turn and that nobody has taken over. */
  abandoned(): Promise<readonly string[]> {
    return abandonedSessions(this.#deps.store, this.#deps.isGone);
  }

  async #recoverOne(sessionId: string, onCrash: "continue" | "stop"): Promise<Recovered> {
    try {
      await using session = await this.#takeOver(sessionId, { onCrash });
      await session.settled();
      return { sessionId, stopReason: session.state.stopReason?.type };
    } catch (thrown) {
      return { sessionId, error: messageOf(thrown) };
    }
  }

  /** Ends every session's agent process, gives the sessions free, and closes what the host opened. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#open.all().map((session) => session.close()));
    await this.#deps.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #require(sessionId: string): Promise<SessionRecord> {
    const record = await this.#deps.store.session(sessionId);
    if (record === undefined)
      throw new CapstanError(
        "not_found",
        `There is no session ${sessionId} in this store. List the sessions to find its id.`,
      );
    return record;
  }
}
