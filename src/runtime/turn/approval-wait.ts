import type { TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { askedCalls, inTurn, type SessionState } from "../../core/session/state.ts";
import { callsThatWait, elicitingCalls, standsStill } from "../../core/session/waiting.ts";
import type { ActiveTurn } from "./active-turn.ts";
import type { ApprovalDesk } from "../approvals/approval-desk.ts";
import type { CurrentTurn } from "./current-turn.ts";
import type { EngineSlot } from "../engine/engine-slot.ts";
import { lateAnswers } from "../calls/late-answers.ts";
import { settleRunningCalls } from "../calls/settle-work.ts";
import { PendingQuestions } from "../approvals/pending-questions.ts";
import { Revival } from "./approval-resume.ts";
import type { SessionDeps } from "../session-deps.ts";
import type { ToolCalls } from "../calls/tool-calls.ts";

/**
 * Questions about several calls of one answer come a moment apart, and are best named together. Nothing depends on it: a
 * question that comes later is named by another `session.status_idle`.
 */
const GATHER_MS = 150;
/** How soon a session without a process sees an answer that another process stored. */
const LOOK_EVERY_MS = 500;
/** A process that dies this often in a row with an answer to act on will die again. */
const MAX_LOSSES = 3;

/** What the log says when nothing moves until a person answers. */
export function waitsFor(state: SessionState, calls = callsThatWait(state)): EventDraft<"session.status_idle"> {
  const event_ids = calls.map(([, call]) => call.eventId);
  return { type: "session.status_idle", stop_reason: { type: "requires_action", event_ids }, stop_details: null };
}

/** Whether the log names every call that waits. */
function isNamed(state: SessionState): boolean {
  const named = state.stopReason?.type === "requires_action" ? state.stopReason.event_ids : [];
  return callsThatWait(state).every(([, { eventId }]) => named.includes(eventId));
}

/** A turn is neither running nor over: it waits for a person. */
export function isPaused(state: SessionState): boolean {
  return state.status === "idle" && inTurn(state);
}

/**
 * The pauses of a session's turns, in which nothing moves until a person has answered. A pause is said in the log,
 * needs no process, outlives every one, and ends when an answer is there.
 */
export class Pauses {
  readonly #deps: SessionDeps;
  readonly #parts: Parts;
  readonly #turns: TurnControl;
  readonly #revival: Revival;
  readonly #questions: PendingQuestions;
  #still: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  /** The turn that is being brought back to life. */
  #revived: ActiveTurn | undefined;
  /** How often in a row a process was lost that had an answer to act on. */
  #losses = 0;

  constructor(deps: SessionDeps, parts: Parts, turns: TurnControl) {
    this.#deps = deps;
    this.#parts = parts;
    this.#turns = turns;
    this.#revival = new Revival(deps, parts);
    this.#questions = new PendingQuestions(deps, {
      needsPerson: (approval) => parts.calls.needsPerson(approval),
      onAnswer: () => this.wake().catch(turns.onFailure),
    });
  }

  /** The turn under way is being brought back to life: its processes run what waited, and take no message. */
  get isReviving(): boolean {
    return this.#revived !== undefined && this.#revived === this.#turns.current.turn;
  }

  /** To be called whenever something happened in the turn under way. */
  moved(): void {
    clearTimeout(this.#still);
    const { state } = this.#deps.log;
    if (state.status === "running") this.#turns.current.turn?.goOn();
    if (callsThatWait(state).length === 0) return;
    this.#still = setTimeout(() => void this.#say().catch(this.#turns.onFailure), GATHER_MS);
  }

  /** A call got its outcome: processes are not lost for nothing. */
  progressed(): void {
    this.#losses = 0;
  }

  /** Whether the end was that of a process which brings the turn back to life, and not of the turn itself. */
  takesEnd(end: TurnEnd): boolean {
    if (!this.#revival.isDriving) return false;
    this.#revival.ended(end);
    return true;
  }

  /** A turn that waits for people outlives its process. One whose processes are lost again and again does not. */
  async survives(lost: EventDraft<"capstan.process_lost">): Promise<boolean> {
    if (this.#turns.current.turn?.isStopping !== false || askedCalls(this.#deps.log.state).length === 0) return false;
    this.#losses += 1;
    if (this.#losses > MAX_LOSSES) return false;
    await this.#pause(lost);
    await this.wake();
    return true;
  }

  /** Ends the process of a turn that waits for people. False when there is no such turn. */
  async rest(): Promise<boolean> {
    const { log } = this.#deps;
    if (askedCalls(log.state).length === 0 || !inTurn(log.state)) return false;
    this.#parts.engine.kill();
    await this.#pause(undefined);
    this.#wakeLater();
    return true;
  }

  /** Takes over a turn that waited for people when its host died. False when there is no such turn. */
  async takeOver(lost: EventDraft<"capstan.process_lost">): Promise<boolean> {
    const { state } = this.#deps.log;
    if (askedCalls(state).length === 0 || !inTurn(state)) return false;
    await this.#pause(state.status === "idle" ? undefined : lost);
    await this.wake();
    await this.#questions.ask();
    return true;
  }

  /** Goes on with a turn whose process is gone as soon as somebody has answered. */
  async wake(): Promise<void> {
    const { log } = this.#deps;
    const isOver = (): boolean => this.#turns.current.turn !== undefined || !isPaused(log.state);
    if (isOver()) return;
    await this.#questions.look();
    if (!(await this.#revival.isReady())) return isOver() ? undefined : this.#wakeLater();
    // Two answers at the same time wake it twice; the second finds it awake.
    if (isOver()) return;
    this.#turns.current.begin();
    const revived = this.#turns.current.turn;
    this.#revived = revived;
    // The turn may be over by now: an interrupt ends it while it waits.
    const [goesOn] = await log.append((state) =>
      isPaused(state) ? [{ type: "session.status_running", goes_on: true }] : [],
    );
    if (this.#turns.current.turn !== revived) return;
    if (goesOn === undefined) return this.#turns.current.abort();
    this.#turns.step(async (stopped) => {
      const { engine } = this.#parts;
      const found = await this.#revive();
      if (stopped() || found === "gone") return;
      if (found === "ready") {
        await engine.open({ start: { kind: "continue" } });
        // From here on a message is for this process; those that were stored before are given now.
        this.#revived = undefined;
        return engine.give(await engine.pending());
      }
      await this.#pause(undefined);
      this.#wakeLater();
    });
  }

  /** A process that was lost while it started is lost like any other: what people were asked outlives it. */
  async #revive(): Promise<Awaited<ReturnType<Revival["run"]>>> {
    try {
      return await this.#revival.run();
    } catch (thrown) {
      if (!(thrown instanceof CapstanError) || thrown.code !== "engine_failed") throw thrown;
      if (await this.survives({ type: "capstan.process_lost", reason: thrown.message, stderr: "" })) return "gone";
      throw thrown;
    }
  }

  /** The turn is to end: nothing more is brought back to life. */
  giveUp(): void {
    this.#revival.stop();
  }

  /** Nothing is watched any more, and whatever worked is gone. */
  stop(): void {
    clearTimeout(this.#still);
    clearTimeout(this.#look);
    this.#questions.stop();
    this.#revival.letGo();
  }

  /** Nobody in this host is asked and nothing moves: the session is idle, and whoever follows it is told why. */
  async #say(): Promise<void> {
    const { log } = this.#deps;
    // An answer that another process has stored by now is not waited for.
    await this.#parts.desk.look();
    const isRunning = this.#turns.current.turn?.isStopping === false;
    await log.append((state) => {
      const isNews = state.status === "running" || (isPaused(state) && !isNamed(state));
      return isRunning && isNews && this.#isStill(state) ? [waitsFor(state)] : [];
    });
    if (!isPaused(log.state)) return;
    this.#turns.current.turn?.pause();
    // What a server asks can only be answered while its process is there, and its call runs.
    if (elicitingCalls(log.state).length > 0) return this.#turns.current.place.makeRoom();
    await this.#turns.current.place.release();
    this.#parts.engine.restLater();
  }

  #isStill(state: SessionState): boolean {
    const { calls, desk, engine } = this.#parts;
    if (this.#deps.userHooks.isLooking || calls.isDeciding || desk.attended || engine.requests > 0) return false;
    // What a revival has not come to yet is answered already: it waits only where it has asked.
    return (!this.isReviving || desk.isAsking()) && standsStill(state);
  }

  /** The process is gone. What ran gets its outcome; what waits goes on waiting. */
  async #pause(lost: EventDraft<"capstan.process_lost"> | undefined): Promise<void> {
    clearTimeout(this.#still);
    this.#revival.letGo();
    this.#turns.current.abort();
    await this.#deps.log.append(async (state) => [
      ...(lost === undefined ? [] : [lost]),
      // Of servers, whose questions end with their process.
      ...(await lateAnswers(
        this.#deps.store,
        elicitingCalls(state).map(([, call]) => ({ ...call, decision: "allowed" })),
      )),
      ...settleRunningCalls(state),
      ...(state.status === "idle" ? [] : [waitsFor(state, askedCalls(state))]),
    ]);
  }

  #wakeLater(): void {
    clearTimeout(this.#look);
    this.#look = setTimeout(() => void this.wake().catch(this.#turns.onFailure), LOOK_EVERY_MS).unref();
  }
}

interface Parts {
  readonly desk: ApprovalDesk;
  readonly engine: EngineSlot;
  readonly calls: ToolCalls;
}

/** What a pause needs of the turns it interrupts. */
interface TurnControl {
  readonly current: CurrentTurn;
  readonly step: (step: (stopped: () => boolean) => Promise<void>) => void;
  readonly onFailure: (thrown: unknown) => void;
}
