import type { Mode } from "../../core/agent/agent-definition.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import type { EngineFact, TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { StoredEvent } from "../../core/events/events.ts";
import { askedCalls, inTurn } from "../../core/session/state.ts";
import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { elicit } from "../approvals/elicitations.ts";
import { EngineSlot } from "../engine/engine-slot.ts";
import { recordPlainFact } from "../engine/engine-events.ts";
import { isPaused, Pauses } from "./approval-wait.ts";
import { CurrentTurn } from "./current-turn.ts";
import { HOST_GONE, processLost, settleCutTurn } from "./cut-turn.ts";
import { type Said, saidEvents } from "./user-message.ts";
import type { SessionDeps } from "../session-deps.ts";
import { ToolCalls } from "../calls/tool-calls.ts";
import { asError, failed, hostLost, writeTurnEnd } from "./turn-end.ts";

/**
 * Runs the turns of one session. It alone decides what the engine's facts mean for the log: the engine says what
 * happened, and nothing is told to anyone before it is stored.
 */
export class Turns {
  readonly engine: EngineSlot;
  readonly #deps: SessionDeps;
  readonly #calls: ToolCalls;
  /** Called when the log cannot be written: nothing may go on unlogged. */
  readonly #onFailure: (error: CapstanError) => void;
  readonly #desk: ApprovalDesk;
  readonly #pauses: Pauses;
  readonly #current: CurrentTurn;

  constructor(deps: SessionDeps, { mode, onFailure }: { mode: () => Mode; onFailure: (error: CapstanError) => void }) {
    this.#deps = deps;
    this.#onFailure = onFailure;
    this.#current = new CurrentTurn(deps, (hit) => this.#stopAt(hit));
    this.#desk = new ApprovalDesk(deps, { onChange: () => this.#pauses.moved() });
    this.#calls = new ToolCalls(deps, {
      mode,
      onLimit: this.#current.meterHooks.onLimit,
      desk: this.#desk,
      deadline: () => this.#current.turn?.deadline,
      stopping: () => this.#current.turn?.isStopping === true,
      occupy: async () => {
        await this.#current.place.take(() => this.#current.turn?.isStopping !== false);
        this.engine.works();
      },
    });
    this.engine = new EngineSlot(deps, {
      host: {
        newEventId: () => deps.ids.next("sevt"),
        emit: (fact) => this.#take(fact),
        prepare: (call, signal) => this.#calls.prepare(call, signal),
        execute: (call, signal) => this.#calls.execute(call, signal),
        elicit: (question, signal) => elicit(question, signal, { ...deps, desk: this.#desk }),
      },
      mode,
      busy: () => this.#current.turn !== undefined && !isPaused(deps.log.state),
      onRest: () => void this.rest().catch(() => {}),
      onAnswer: () => this.#pauses.moved(),
      ...this.#current.meterHooks,
    });
    this.#pauses = new Pauses(
      deps,
      { desk: this.#desk, engine: this.engine, calls: this.#calls },
      {
        current: this.#current,
        step: (step) => void this.#step(step),
        onFailure: (thrown) => this.#fail(thrown),
      },
    );
  }

  /** A turn is under way, or a process is there for the next one. */
  get isAtWork(): boolean {
    return this.#current.turn !== undefined || this.engine.isOpen;
  }

  /**
   * Stores the message and starts a turn, or adds it to the one under way. Resolves to the place before the message, from
   * which whoever sent it follows the log: that tells of the message when the disk has it.
   */
  async send(said: Said): Promise<number> {
    await this.#settleFailedTurn();
    const { state } = this.#deps.log;
    const waits = isPaused(state);
    const starts = this.#current.turn === undefined && !waits && this.#current.limit() === undefined;
    if (starts) this.#current.begin();
    const beside = starts ? this.#current.place.begin() : {};
    const [stored] = await this.#deps.log
      .append(saidEvents(said, { state, starts }), { ...beside, isEarly: true })
      .catch((thrown: unknown) => {
        if (starts) this.#current.abort();
        throw thrown;
      });
    if (this.#current.turn !== undefined || !waits) await this.#deliver();
    return (stored?.seq ?? 1) - 1;
  }

  /** Resolves to the place before the turn. */
  async compact(): Promise<number> {
    if (this.#current.turn !== undefined || isPaused(this.#deps.log.state))
      throw new CapstanError("invalid_input", "A turn is under way. Compact when the session is idle.");
    await this.#settleFailedTurn();
    const [stored] = await this.#start();
    void this.#step(async (stopped) => {
      await this.engine.open();
      if (!stopped()) await this.engine.compact();
    });
    return (stored?.seq ?? 1) - 1;
  }

  /** Another host has taken the session: nothing is written any more, and whoever waits is let go. */
  abandon(): void {
    this.engine.kill();
    this.stop();
    this.#current.abort();
  }

  /** Resolves when the turn under way is over; at once when there is none. What people were asked is denied. */
  async interrupt(): Promise<void> {
    const { log, userHooks } = this.#deps;
    let turn = this.#current.turn;
    if (turn === undefined) {
      const waits = isPaused(log.state);
      // The end of a turn may just be being written, and nothing but hooks holds that up.
      userHooks.stop();
      await log.append([]);
      if (!isPaused(log.state) && !(waits && this.#current.turn !== undefined)) return;
    }
    await log.append([{ type: "user.interrupt" }]);
    // An answer may have brought a turn that waited back to life meanwhile.
    turn ??= this.#current.turn;
    if (turn === undefined) return this.#end({ outcome: "interrupted", usage: {} });
    turn.interrupted = true;
    userHooks.stop();
    this.#pauses.giveUp();
    await this.engine.interrupt();
    await turn.over;
  }

  /** Ends the process. A turn that waits for people goes on waiting without it; any other is interrupted. */
  async rest(): Promise<void> {
    if (await this.#pauses.rest()) return;
    await this.interrupt();
    await this.engine.close();
    await this.#deps.configuration.atRest((warned) => this.#deps.log.append(warned));
  }

  /** The mode or the grants changed, or somebody answered: goes on with whatever that settles. */
  async reconsider(): Promise<void> {
    await this.#desk.reconsider();
    await this.#desk.look();
    await this.#pauses.wake();
  }

  /** For good: nothing is watched any more. */
  stop(): void {
    this.#pauses.stop();
  }

  /** Goes on where another host left the session, or ends the turn it left. */
  async recover(onCrash: "continue" | "stop"): Promise<void> {
    const { log } = this.#deps;
    if (await this.#pauses.takeOver(processLost(HOST_GONE))) return;
    if (inTurn(log.state)) {
      const finished = await this.#settleCutTurn(HOST_GONE);
      if (!finished && onCrash === "stop") return this.#end(hostLost());
      if (!finished) {
        await log.append([{ type: "session.status_rescheduled" }, { type: "session.status_running" }]);
        this.#current.begin();
        void this.#step(() => this.engine.open({ start: { kind: "continue" } }));
      }
    }
    if (log.state.undelivered.length > 0) await this.#deliver();
  }

  /** A turn that ended without its end in the log, because the log could not be written then. */
  async #settleFailedTurn(): Promise<void> {
    // A turn whose end is just being written is not a failed one.
    await this.#deps.log.append([]);
    const { state } = this.#deps.log;
    // A turn that waits for people about calls that have not run is none either; it needs no process.
    if (this.#current.turn !== undefined || !inTurn(state) || (isPaused(state) && askedCalls(state).length > 0)) return;
    if (!(await this.#settleCutTurn("The turn was given up because its log could not be written.")))
      await this.#end(hostLost());
  }

  /** True when only the end of the turn was missing, which is then told. */
  async #settleCutTurn(reason: string): Promise<boolean> {
    const finished = (await settleCutTurn(this.#deps, reason)) === "finished";
    if (finished) await this.#end({ outcome: "completed", usage: {} });
    return finished;
  }

  /** Gives the engine every stored message that it does not have, in a new turn when none is under way. */
  async #deliver(): Promise<void> {
    // It is given what waits as soon as all that was asked about has its outcome.
    if (this.#pauses.isReviving) return;
    if (this.#current.turn === undefined) {
      const hit = this.#current.limit();
      await this.#start();
      if (hit !== undefined) {
        this.#current.reachLimit(hit);
        return this.#end({ outcome: "completed", usage: {} });
      }
    }
    void this.#step(async (stopped) => {
      await this.engine.open();
      const messages = await this.engine.pending();
      if (messages.length === 0 || stopped()) return;
      // The turn that was under way may have ended meanwhile.
      if (this.#current.turn === undefined) await this.#start();
      this.engine.give(messages);
      // A turn that waits for people takes the message and waits on.
      this.#pauses.moved();
    });
  }

  async #start(): Promise<readonly StoredEvent[]> {
    this.#current.begin();
    try {
      return await this.#deps.log.append([{ type: "session.status_running" }], this.#current.place.begin());
    } catch (thrown) {
      this.#current.abort();
      throw thrown;
    }
  }

  /** One step of the turn under way. A turn that is to stop takes no further step; a step that fails ends it. */
  async #step(step: (stopped: () => boolean) => Promise<void>): Promise<void> {
    const turn = this.#current.turn;
    const stopped = (): boolean => turn?.isStopping === true;
    try {
      // Its time does not run while it waits for its turn.
      turn?.pause();
      if (!stopped()) await this.#current.place.take(stopped);
      if (!stopped()) turn?.goOn();
      if (!stopped()) await step(stopped);
      if (!stopped() || this.#current.turn !== turn) return;
      await this.engine.interrupt();
      if (this.#current.turn === turn) await this.#end({ outcome: "interrupted", usage: {} });
    } catch (thrown) {
      // The turn ended while it was taken, and another may be under way.
      if (turn !== undefined && this.#current.turn !== turn) return;
      // A process that was given up while it started tells of that as of a failure.
      const end: TurnEnd = stopped() ? { outcome: "interrupted", usage: {} } : failed(thrown);
      await this.#end(end).catch((failure: unknown) => this.#fail(failure));
    }
  }

  async #take(fact: EngineFact): Promise<void> {
    try {
      await this.#record(fact);
      this.#pauses.moved();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  async #record(fact: EngineFact): Promise<void> {
    switch (fact.kind) {
      case "tool_result":
        await this.#calls.finalize(fact, this.#current.turn);
        this.#pauses.progressed();
        return;
      case "turn_ended":
        return this.#pauses.takesEnd(fact.end) ? undefined : this.#end(fact.end);
      case "lost": {
        this.engine.forget();
        const lost = processLost(fact.error.message, fact.stderr);
        if (await this.#pauses.survives(lost)) return;
        await this.#deps.log.append([lost]);
        // A process that hung when it was told to stop is stopped all the same.
        if (this.#current.turn?.interrupted === true) return this.#end({ outcome: "interrupted", usage: {} });
        return this.#end(failed(fact.error));
      }
      default:
        this.#current.countRetry(fact);
        return recordPlainFact(fact, this.#deps);
    }
  }

  /** The end of a turn, told once: outcomes for what is open, then why it stopped, then idle. */
  async #end(end: TurnEnd): Promise<void> {
    const turn = this.#current.take();
    this.#pauses.stop();
    turn?.pause();
    // The engine would go on with messages that wait; they are for the next turn.
    if (end.outcome === "interrupted" && this.#deps.log.state.undelivered.length > 0) this.engine.kill();
    try {
      await writeTurnEnd(end, turn, this.#deps);
    } finally {
      // Also when the log cannot be written: whoever waits for the turn, or for its place, must not wait for ever.
      turn?.release();
    }
    // An answer brought the turn back to life in the moment it ended.
    if (turn === undefined && this.#pauses.isReviving) this.abandon();
    // A process that has reached a limit of its own keeps to it; the next one counts anew. It is not waited for: the
    // process itself may be the one that tells of its end.
    if (end.outcome === "steps" || end.outcome === "budget") void this.engine.close().catch(() => {});
    else this.engine.restLater();
  }

  #stopAt({ which }: LimitHit): void {
    if (which === "deadline") {
      this.#deps.userHooks.stop();
      // A tool that the host itself runs for a turn that came back to life is in no process that could be interrupted.
      this.#pauses.giveUp();
    }
    void this.engine.interrupt();
  }

  /** Ends everything at once without a word in the log; the next message settles what is open. */
  #fail(thrown: unknown): void {
    this.#current.abort();
    this.engine.kill();
    this.#onFailure(asError(thrown));
  }
}
