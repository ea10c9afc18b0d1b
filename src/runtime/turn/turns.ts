import type { Mode } from "../../core/agent/agent-definition.ts";
import type { EngineFact, EngineHost } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { StoredEvent } from "../../core/events/events.ts";
import { askedCalls } from "../../core/session/state.ts";
import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { elicitAnswer } from "../approvals/elicitations.ts";
import { ToolCalls } from "../calls/tool-calls.ts";
import { recordPlainFact } from "../engine/engine-events.ts";
import { EngineSlot } from "../engine/engine-slot.ts";
import type { SessionDeps } from "../session-deps.ts";
import { Pauses, waitsFor } from "./approval-wait.ts";
import { CurrentTurn } from "./current-turn.ts";
import { failedEnd, HOST_GONE, hostLost, processLostEvent, settleCutTurn } from "./turn-end.ts";
import { DRIVEN, isPaused, type TurnState } from "./turn-state.ts";
import { COMPLETED, INTERRUPTED, TurnSteps } from "./turn-steps.ts";
import { type ExpandedMessage, saidEvents } from "./user-message.ts";

/**
 * Runs the turns of one session. It alone decides what the engine's facts mean for the log. `turn-state.ts` has the states
 * of a turn; the parts below ask it, and each knows only the parts made before it.
 */
export class Turns {
  readonly engine: EngineSlot;
  readonly #deps: SessionDeps;
  readonly #current: CurrentTurn;
  readonly #desk: ApprovalDesk;
  readonly #calls: ToolCalls;
  readonly #steps: TurnSteps;
  readonly #pauses: Pauses;

  /** `onFailure` is called when the log cannot be written. */
  constructor(deps: SessionDeps, { mode, onFailure }: { mode: () => Mode; onFailure: (error: CapstanError) => void }) {
    const current = new CurrentTurn(deps);
    const desk = new ApprovalDesk(deps, { onChange: () => current.stir() });
    const calls = new ToolCalls(deps, { mode, desk, turn: current });
    const host: EngineHost = {
      newEventId: () => deps.ids.next("sevt"),
      emit: (fact) => this.#take(fact),
      prepare: (call, signal) => calls.prepare(call, signal),
      execute: (call, signal) => calls.execute(call, signal),
      elicit: (question, signal) => elicitAnswer(question, signal, { ...deps, desk }),
    };
    const onRest = (): void => void this.rest().catch(() => {});
    const engine = new EngineSlot(deps, { mode, turn: current, host, onRest });
    const steps = new TurnSteps(deps, { current, engine, onFailure });
    this.#pauses = new Pauses(deps, { current, steps, desk, engine, calls });
    this.#deps = deps;
    this.#current = current;
    this.#desk = desk;
    this.#calls = calls;
    this.#steps = steps;
    this.engine = engine;
    current.machine.onChange((state) => this.#enter(state));
  }

  /** A turn is under way, or a process is there for the next one. */
  get isAtWork(): boolean {
    return this.#current.machine.is(...DRIVEN, "ending") || this.engine.isOpen;
  }

  /** What each change of state sets off. The clock of the turn follows it too, in `current-turn.ts`. */
  #enter(state: TurnState): void {
    switch (state) {
      case "running":
        return this.engine.works();
      case "interrupting":
        return this.#stopHostWork();
      case "limited":
        // Other limits let what already runs finish.
        if (this.#current.turn?.limit?.which === "deadline") this.#stopHostWork();
        return void this.engine.interrupt();
      case "ending":
        return this.#pauses.stop();
      default:
    }
  }

  /** Hooks, and tools that the host runs for a revival, are in no process that could be interrupted. */
  #stopHostWork(): void {
    this.#deps.userHooks.stop();
    this.#pauses.stopReviving();
  }

  /**
   * Stores the message and starts a turn, or adds it to the turn under way. Resolves to the sequence number before the
   * message. The sender follows the log from there, and sees the message once the disk has it.
   */
  async send(said: ExpandedMessage): Promise<number> {
    await this.#settleAbandonedTurn();
    const { machine, place } = this.#current;
    const { state } = this.#deps.log;
    const waits = machine.is("waiting", "hibernated");
    const starts = machine.is("idle") && this.#current.limit() === undefined;
    if (starts) this.#current.begin("start");
    const claim = starts ? place.begin() : {};
    const [stored] = await this.#deps.log
      .append(saidEvents(said, { state, starts, waits }), { ...claim, isEarly: true })
      .catch((thrown: unknown) => {
        if (starts) this.#current.abort();
        throw thrown;
      });
    if (this.#current.turn !== undefined || !waits) await this.#deliver();
    return (stored?.seq ?? 1) - 1;
  }

  /** Resolves to the sequence number before the turn. */
  async compact(): Promise<number> {
    await this.#settleAbandonedTurn();
    if (!this.#current.machine.is("idle"))
      throw new CapstanError("invalid_input", "A turn is under way. Compact when the session is idle.");
    const [stored] = await this.#start();
    void this.#steps.run(async (isStopped) => {
      await this.engine.open();
      if (!isStopped()) await this.engine.compact();
    });
    return (stored?.seq ?? 1) - 1;
  }

  /** Another host has taken the session: writes nothing more, and releases everyone who waits. */
  abandon(): void {
    this.engine.kill();
    this.stop();
    this.#current.abort();
  }

  /** Resolves when the turn under way is over; at once when there is none. Questions to people are denied. */
  async interrupt(): Promise<void> {
    const { log, userHooks } = this.#deps;
    const { machine, turn: before } = this.#current;
    if (before === undefined) {
      const waited = machine.is("hibernated");
      // The end of a turn may be about to be written, and only hooks hold that up.
      userHooks.stop();
      await log.append([]);
      if (!machine.is("hibernated") && !(waited && this.#current.turn !== undefined)) return;
    }
    await log.append([{ type: "user.interrupt" }]);
    if (machine.is("hibernated")) return this.#steps.end(INTERRUPTED);
    // An answer may have revived a turn that waited.
    const turn = before ?? this.#current.turn;
    if (turn === undefined) return;
    if (turn === this.#current.turn) {
      if (machine.can("interrupt")) machine.apply("interrupt");
      await this.engine.interrupt();
    }
    await turn.over;
  }

  /** Ends the process. A turn that waits for people keeps waiting without it; any other is interrupted. */
  async rest(): Promise<void> {
    if (await this.#pauses.rest()) return;
    await this.interrupt();
    await this.engine.close();
    await this.#deps.configuration.atRest((warned) => this.#deps.log.append(warned));
  }

  /** The mode or the grants changed, or someone answered: continues with whatever that settles. */
  async reconsider(): Promise<void> {
    await this.#desk.reconsider();
    await this.#desk.look();
    await this.#pauses.wake();
  }

  /** For good: watches nothing any more. */
  stop(): void {
    this.#pauses.stop();
  }

  /** Continues where another host left the session, or ends the turn it left. */
  async recover(onCrash: "continue" | "stop"): Promise<void> {
    const { log } = this.#deps;
    if (await this.#pauses.takeOver(processLostEvent(HOST_GONE))) return;
    if (!this.#current.machine.is("idle")) {
      const isFinished = await this.#settleCutTurn(HOST_GONE);
      if (!isFinished && onCrash === "stop") return this.#steps.end(hostLost());
      if (!isFinished) {
        await log.append([{ type: "session.status_rescheduled" }, { type: "session.status_running" }]);
        this.#current.begin("recover");
        void this.#steps.run(() => this.engine.open({ start: { kind: "continue" } }));
      }
    }
    if (log.state.undelivered.length > 0) await this.#deliver();
  }

  /** Ends a turn that has no end in the log because the log could not be written. */
  async #settleAbandonedTurn(): Promise<void> {
    const { log } = this.#deps;
    // A turn whose end is being written is not abandoned.
    await log.append([]);
    await this.#current.whenEnded();
    const { machine } = this.#current;
    // A turn that waits for people about calls that have not run is not abandoned either; it needs no process.
    const isAbandoned = machine.is("hibernated") ? askedCalls(log.state).length === 0 : machine.is("abandoned");
    if (!isAbandoned) return;
    if (!(await this.#settleCutTurn("The turn was given up because its log could not be written.")))
      await this.#steps.end(hostLost());
  }

  /** True when only the end of the turn was missing, which is then written. */
  async #settleCutTurn(reason: string): Promise<boolean> {
    const isFinished = (await settleCutTurn(this.#deps, reason)) === "finished";
    if (isFinished) await this.#steps.end(COMPLETED);
    return isFinished;
  }

  /** Gives the engine every stored message that it does not have, in a new turn if none is under way. */
  async #deliver(): Promise<void> {
    const { log } = this.#deps;
    const { machine } = this.#current;
    // A revived turn gets the messages that wait as soon as all calls that waited have their outcome.
    if (this.#pauses.isReviving) return;
    await this.#current.whenEnded();
    // The turn lost its process while the message was being stored. The sender learns which answer it waits for.
    if (machine.is("hibernated")) return void (await log.append((state) => (isPaused(state) ? [waitsFor(state)] : [])));
    // The log could not be written. The sender knows, and the next message settles what is open.
    if (machine.is("abandoned")) return;
    if (machine.is("idle")) {
      const hit = this.#current.limit();
      await this.#start();
      if (hit !== undefined) {
        this.#current.reachLimit(hit);
        return this.#steps.end(COMPLETED);
      }
    }
    void this.#steps.run(async (isStopped) => {
      await this.engine.open();
      const messages = await this.engine.pending();
      if (messages.length === 0 || isStopped()) return;
      // The turn that was under way ended meanwhile.
      if (this.#current.turn === undefined) return this.#deliver();
      this.engine.give(messages);
      // A turn that waits for people takes the message and keeps waiting.
      this.#current.stir();
    });
  }

  /** Resolves to the event that starts the turn. */
  async #start(): Promise<readonly StoredEvent[]> {
    this.#current.begin("start");
    try {
      return await this.#deps.log.append([{ type: "session.status_running" }], this.#current.place.begin());
    } catch (thrown) {
      this.#current.abort();
      throw thrown;
    }
  }

  async #take(fact: EngineFact): Promise<void> {
    try {
      await this.#record(fact);
      this.#current.stir();
    } catch (thrown) {
      this.#steps.fail(thrown);
    }
  }

  async #record(fact: EngineFact): Promise<void> {
    const current = this.#current;
    const pauses = this.#pauses;
    switch (fact.kind) {
      case "tool_result":
        await this.#calls.finalize(fact, current.turn);
        return pauses.resetLosses();
      case "turn_ended":
        return pauses.takesEnd(fact.end) ? undefined : this.#steps.end(fact.end);
      case "lost": {
        this.engine.forget();
        const lost = processLostEvent(fact.error.message, fact.stderr);
        if (await pauses.survives(lost)) return;
        await this.#deps.log.append([lost]);
        // A process that hung when it was told to stop counts as stopped.
        return this.#steps.end(current.machine.is("interrupting") ? INTERRUPTED : failedEnd(fact.error));
      }
      default:
        if (current.turn !== undefined && fact.kind === "event" && fact.draft.type === "session.error")
          current.turn.retries += 1;
        return recordPlainFact(fact, this.#deps);
    }
  }
}
