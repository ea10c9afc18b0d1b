import type { Mode } from "../core/agent/agent-definition.ts";
import type { MessageContent } from "../core/events/content.ts";
import type { EngineName } from "../core/agent/engine-name.ts";
import { CapstanError } from "../core/errors.ts";
import type { LoggedEvent, Preview } from "../core/events/events.ts";
import { inTurn, type SessionState } from "../core/session/state.ts";
import type { SessionRecord } from "../core/ports/store.ts";
import { ConfigurationWatch } from "./protected/watch-configuration.ts";
import { Checkpoints } from "./files/checkpoints.ts";
import { isEmpty, UserHooks } from "./hooks/hooks.ts";
import { Occupancy } from "./engine/directory-claim.ts";
import { type RestingSession, type RestPurpose, whileAlone } from "./files/resting-sessions.ts";
import { finishRewind } from "./files/rewind.ts";
import { expandMessage, type ExpandedMessage } from "./turn/user-message.ts";
import type { SessionDeps, SessionParts } from "./session-deps.ts";
import { engineChange, engineInForce, requireFittingEngine } from "./engine/session-engine.ts";
import type { SessionLog } from "./log/session-log.ts";
import { SessionStream } from "./turn/session-stream.ts";
import type { Turn } from "./turn/turn.ts";
import { Turns } from "./turn/turns.ts";

/** A session that this host drives, as programs see it: send it messages, follow what it does, steer it. */
export type Session<Output = unknown> = Omit<
  DrivenSession<Output>,
  "recover" | "abandon" | "noteAnswer" | "waitUntilIdle" | "atRest" | "write" | "leave" | "isAtWork" | "closing"
>;

export class DrivenSession<Output = unknown> {
  readonly #deps: SessionDeps;
  readonly #turns: Turns;
  #closed = false;
  readonly #free = Promise.withResolvers<void>();
  readonly #stream: SessionStream;
  /** How many pieces of work with its files are under way, or wait. */
  #resting = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: SessionParts) {
    const deps: SessionDeps = {
      ...parts,
      userHooks: new UserHooks(parts),
      checkpoints: new Checkpoints(parts),
      configuration: new ConfigurationWatch(parts),
    };
    this.#deps = deps;
    this.#stream = new SessionStream(deps);
    this.#turns = new Turns(deps, { mode: () => this.mode, onFailure: (error) => this.#stream.fail(error) });
  }

  get id(): string {
    return this.#deps.record.id;
  }

  get record(): SessionRecord {
    return this.#deps.record;
  }

  get state(): SessionState {
    return this.#deps.log.state;
  }

  get mode(): Mode {
    return (this.state.mode as Mode | undefined) ?? this.#deps.record.agent.permissions.mode;
  }

  /** The engine that runs the turn under way, or the next one. */
  get engine(): EngineName {
    return engineInForce(this.#deps.record.agent, this.state);
  }

  /** Starts the agent process ahead of the next message, so that the message does not wait for it. */
  warm(): void {
    // A turn that waits for a person, or is being revived, starts its own process when it is time.
    if (!inTurn(this.state)) this.#turns.engine.warm();
  }

  /** Stores the message and starts a turn, or adds it to the turn under way. */
  send(content: string | MessageContent): Turn<Output> {
    const blocks: MessageContent = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return this.#stream.follow(this.#send(expandMessage(this.#deps.record.agent, blocks)));
  }

  /** Shortens the context: from then on the model sees a summary. This is a turn of its own. */
  compact(): Turn<Output> {
    return this.#stream.follow(this.#compact());
  }

  /** Ends the turn under way and keeps its work. Resolves when the session is idle, at once if it already is. */
  async interrupt(): Promise<void> {
    this.#deps.userHooks.stopPrompts();
    await this.#turns.interrupt();
  }

  /** Rejects with `invalid_agent` if the model cannot do what the agent asks for, such as its effort. */
  async setModel(model: string): Promise<void> {
    this.#requireOpen();
    const { engines, record, tools } = this.#deps;
    const engine = await engines.load(this.engine);
    engine.validate({ agent: { ...record.agent, model }, cwd: record.cwd, tools });
    await this.#turns.engine.setModel(model);
    await this.#deps.log.append([{ type: "capstan.model_changed", model }]);
  }

  /**
   * Takes effect with the next turn; a turn under way ends on the engine that it began on. The new engine gets the
   * conversation from the log. Rejects with `invalid_agent` if the engine cannot do what the agent asks for.
   */
  async setEngine(engine: EngineName): Promise<void> {
    await this.#exclusively(async () => {
      this.#requireOpen();
      const { record, log } = this.#deps;
      if ((this.state.nextEngine ?? this.engine) === engine) return;
      await requireFittingEngine(this.#deps, engine);
      await log.append((state) => engineChange(record.agent, state, engine), { change: { engine } });
      if (!inTurn(this.state)) await this.#turns.engine.leaveOther();
    });
  }

  async setMode(mode: Mode): Promise<void> {
    this.#requireOpen();
    await this.#turns.engine.setMode(mode);
    await this.#deps.log.append([{ type: "capstan.mode_changed", mode }]);
    await this.#turns.reconsider();
  }

  /**
   * Ends the agent process; the next message, or `warm`, starts another. Until then the session costs nothing. A turn
   * that waits for a person keeps waiting and is revived by the answer; any other is interrupted.
   */
  async hibernate(): Promise<void> {
    await this.#turns.rest();
  }

  /** Every event after `after`, then new ones, until `signal` aborts or the session is closed. */
  events(
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<LoggedEvent | Preview> {
    return this.#stream.events(options);
  }

  /** For the runtime: works on the files while no turn is under way, and lets none begin. */
  atRest<Result>(purpose: RestPurpose, work: (resting: RestingSession) => Promise<Result>): Promise<Result> {
    this.#resting += 1;
    return this.#exclusively(async () => {
      this.#requireOpen();
      const { record, log, ids, workspace, checkpoints } = this.#deps;
      return whileAlone(this.#deps, purpose, async () => {
        if (purpose !== "export") await this.hibernate();
        return work({ record, log, ids, workspace, checkpoints });
      });
    }).finally(() => {
      this.#resting -= 1;
    });
  }

  /** For the runtime: writes to the log in order with everything else. */
  async write<Result>(work: (log: SessionLog) => Promise<Result>): Promise<Result> {
    this.#requireOpen();
    return work(this.#deps.log);
  }

  /** For the runtime: a turn is under way, someone works on the files, or a process is there for the next turn. */
  get isAtWork(): boolean {
    return this.#turns.isAtWork || this.#resting > 0;
  }

  /** For the runtime: undefined while the session can be used; resolves when it was released. */
  get closing(): Promise<void> | undefined {
    return this.#closed ? this.#free.promise : undefined;
  }

  /**
   * For the runtime: releases the session and ends its process without writing to the log. Questions keep waiting, and
   * the host that takes the session over continues a turn that was cut off.
   */
  async leave(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#deps.userHooks.abandon();
    this.#turns.abandon();
    try {
      await this.#deps.release();
    } finally {
      this.#free.resolve();
      this.#stream.end();
    }
  }

  /** Ends the turn under way and the agent process, and releases the session for others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#deps.userHooks.stopPrompts();
    try {
      await this.hibernate();
      await this.#deps.userHooks.sessionEnded();
    } catch (thrown) {
      this.#turns.abandon();
      throw thrown;
    } finally {
      this.#turns.stop();
      await this.#deps.release().finally(() => this.#free.resolve());
      this.#stream.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For the runtime: another host has taken the session, so nothing may be written and nothing may continue. */
  abandon(error: CapstanError): void {
    this.#closed = true;
    this.#free.resolve();
    this.#deps.userHooks.abandon();
    this.#turns.abandon();
    this.#stream.end(error);
  }

  /** For the runtime: resolves when the session is idle; rejects when the turn is lost together with its log. */
  async waitUntilIdle(): Promise<void> {
    await this.#stream.waitForIdle();
  }

  /** For the runtime: someone answered an approval of this session. */
  async noteAnswer(): Promise<void> {
    await this.#turns.reconsider();
  }

  /** For the runtime: continues where another host left the session. */
  async recover(onCrash: "continue" | "stop"): Promise<void> {
    const occupancy = new Occupancy(this.#deps);
    await occupancy.giveUpOld();
    if (this.state.files.rewinding !== undefined) await this.#finishRewind(occupancy);
    await this.#turns.recover(onCrash);
  }

  /** The log says if a rewind was given up; the session then continues with the files as they are. */
  async #finishRewind(occupancy: Occupancy): Promise<void> {
    await occupancy.takeNow();
    try {
      await finishRewind(this.#deps);
    } catch (thrown) {
      if (this.state.files.rewinding !== undefined) throw thrown;
    } finally {
      await occupancy.release();
    }
  }

  async #send(said: ExpandedMessage): Promise<number> {
    this.#requireOpen();
    if (isEmpty(said.content))
      throw new CapstanError("invalid_input", "The message is empty. Say what the agent should do.");
    const { userHooks } = this.#deps;
    if (!userHooks.seePrompts) return this.#exclusively(() => this.#turns.send(said));
    const content = await userHooks.beforePrompt(said.content);
    this.#requireOpen();
    return this.#exclusively(() => this.#turns.send({ ...said, content }));
  }

  async #compact(): Promise<number> {
    this.#requireOpen();
    return this.#exclusively(() => this.#turns.compact());
  }

  /** Turns begin, and rewinds run, one after another. */
  #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  #requireOpen(): void {
    if (this.#closed)
      throw new CapstanError("session_ended", "This session is closed. Resume it by its id to continue.");
  }
}
