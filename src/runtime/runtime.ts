import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type AgentDefinition, parseAgent } from "../core/agent-definition.ts";
import type { Clock, Ids } from "../core/clock.ts";
import type { Engine } from "../core/engine.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { LoggedEvent, Preview } from "../core/events.ts";
import type { Gateway } from "../core/gateway.ts";
import type { RunHookCommand } from "../core/hooks.ts";
import type { OutputCheck, OutputChecks } from "../core/output.ts";
import { type Redactor, secretVariables } from "../core/redaction.ts";
import type { StandardSchema } from "../core/standard-schema.ts";
import type {
  ChainCheck,
  EventRange,
  LeaseOwner,
  SessionQuery,
  SessionRecord,
  SessionSummary,
  Store,
} from "../core/store.ts";
import { abandonedSessions, type Recovered } from "./abandoned.ts";
import { type Budgets, budgetChange, budgetInForce, requirePrice, settleCutRequests } from "./budgets.ts";
import { compileRules } from "../core/permission/rule-set.ts";
import { Feed, logged } from "./feed.ts";
import { copyHistory } from "./fork.ts";
import { Grants, Inbox } from "./inbox.ts";
import { holdLease } from "./lease.ts";
import { DrivenSession, type Session } from "./session.ts";
import { SessionLog } from "./session-log.ts";
import type { ForkOptions, ResumeOptions, SessionOptions, StartOptions } from "./session-options.ts";
import { requireUsable } from "./usable-session.ts";
import { placeToGoOn } from "./waiting-place.ts";

export interface RuntimeDeps {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly owner: LeaseOwner;
  /** The home of the person whose files agents work on: what `~` means in a rule. */
  readonly home: string;
  /** Where each session's engine keeps its own files. */
  readonly stateRoot: string;
  readonly hibernateAfterMs: number;
  readonly outputs: OutputChecks;
  readonly runHookCommand: RunHookCommand;
  /** Takes secrets out of everything that is stored or shown. */
  readonly redactor: Redactor;
  readonly budgets: Budgets;
  /** Whether a process that holds a lease is certainly gone, so that its sessions need not wait for the lease to end. */
  readonly isGone: (owner: LeaseOwner) => boolean;
  /** Closes the parts that were opened for this runtime. */
  readonly release: () => Promise<void>;
}

/** All sessions that this host drives. */
export class Runtime {
  readonly approvals: Inbox;
  readonly grants: Grants;
  readonly #deps: RuntimeDeps;
  readonly #feeds = new Map<string, Feed>();
  readonly #sessions = new Map<string, DrivenSession>();
  /** Sessions that are just being opened: a second one of the same would share the lease of the first. */
  readonly #opening = new Set<string>();

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
    const onAnswer = async (sessionId: string): Promise<void> => this.#sessions.get(sessionId)?.answered();
    this.approvals = new Inbox({ ...deps, onAnswer });
    this.grants = new Grants(deps.store);
  }

  async startSession<Output = unknown>(options: StartOptions<Output>): Promise<Session<Output>> {
    const agent = parseAgent(options.agent);
    const session = await this.#create(
      {
        agent,
        cwd: options.cwd,
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
    requireUsable(this.#deps.engine, record, options);
    const budget = options.budget && parseAgent({ ...record.agent, budget: options.budget }).budget;
    const session = await this.#drive(record, options, async (log) => void (await log.append(budgetChange(budget))));
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
    const cwd = options.cwd ?? parent.cwd;
    const session = await this.#create(
      { agent, cwd, title, project, forkedFrom: { sessionId, seq: at } },
      options,
      (log, id) => copyHistory(this.#deps.store, { from: sessionId, upTo: at, to: id, log }),
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
    const live = (): boolean => this.#sessions.has(sessionId);
    yield* this.#feed(sessionId).subscribe(this.#deps.store, { sessionId, after, signal, live });
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
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await this.#deps.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #create<Output>(
    given: Omit<SessionRecord, "id" | "createdAt">,
    options: SessionOptions<Output>,
    prepare?: (log: SessionLog, sessionId: string) => Promise<void>,
  ): Promise<DrivenSession<Output>> {
    const { store, ids, clock, engine } = this.#deps;
    // What cannot work is refused before anything is stored.
    await this.#withOutput(given.agent, options.output);
    requireUsable(engine, given, options);
    requirePrice(this.#deps.budgets, given.agent);
    const record: SessionRecord = { id: ids.next("sesn"), createdAt: clock.now(), ...given };
    await store.createSession(record);
    return this.#drive(record, options, prepare);
  }

  async #drive<Output>(
    record: SessionRecord,
    options: SessionOptions<Output>,
    prepare?: (log: SessionLog, sessionId: string) => Promise<void>,
  ): Promise<DrivenSession<Output>> {
    if (this.#sessions.has(record.id) || this.#opening.has(record.id))
      throw new CapstanError(
        "session_busy",
        `This program already drives ${record.id}. Use the session it has, or close it first.`,
      );
    this.#opening.add(record.id);
    try {
      return await this.#open(record, options, prepare);
    } finally {
      this.#opening.delete(record.id);
    }
  }

  async #open<Output>(
    record: SessionRecord,
    options: SessionOptions<Output>,
    prepare?: (log: SessionLog, sessionId: string) => Promise<void>,
  ): Promise<DrivenSession<Output>> {
    const { store, clock, ids, owner, isGone, stateRoot } = this.#deps;
    const sessionId = record.id;
    const { agent, output } = await this.#withOutput(record.agent, options.output);
    const held = await holdLease(store.leases, { sessionId, owner, isGone });
    try {
      const feed = this.#feed(sessionId);
      const redactor = this.#deps.redactor.with(secretVariables(options.variables ?? {}));
      const log = await SessionLog.open({ store, sessionId, lease: held.lease, feed, clock, ids, redactor });
      await log.append((state) => settleCutRequests(state, this.#deps.budgets));
      await prepare?.(log, sessionId);
      const budget = budgetInForce(this.#deps.budgets, { agent: agent.name, budget: agent.budget, state: log.state });
      const session = new DrivenSession<Output>({
        ...this.#deps,
        record: { ...record, agent: { ...agent, budget } },
        log,
        feed,
        stateDir: join(stateRoot, sessionId),
        variables: options.variables ?? {},
        tools: options.tools ?? [],
        rules: compileRules(agent.permissions),
        ask: options.askPermission,
        givenHooks: options.hooks,
        output,
        release: async () => {
          this.#sessions.delete(sessionId);
          feed.wake();
          await rm(join(stateRoot, sessionId, "tmp"), { recursive: true, force: true });
          await held.release();
        },
      });
      held.onLost((error) => {
        this.#sessions.delete(sessionId);
        session.abandon(error);
        feed.wake();
      });
      this.#sessions.set(sessionId, session);
      return session;
    } catch (thrown) {
      await held.release();
      throw thrown;
    }
  }

  async #withOutput<Output>(
    agent: AgentDefinition,
    schema: StandardSchema<unknown, Output> | undefined,
  ): Promise<{ agent: AgentDefinition; output: OutputCheck<unknown> | undefined }> {
    const { outputs } = this.#deps;
    if (schema === undefined)
      return { agent, output: agent.output_schema && (await outputs.fromJsonSchema(agent.output_schema)) };
    const output = await outputs.fromSchema(schema);
    return { agent: { ...agent, output_schema: { ...output.jsonSchema } }, output };
  }

  #feed(sessionId: string): Feed {
    const known = this.#feeds.get(sessionId) ?? new Feed();
    this.#feeds.set(sessionId, known);
    return known;
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
