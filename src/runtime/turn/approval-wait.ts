import type { TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { askedCalls, type SessionState } from "../../core/session/state.ts";
import { callsThatWait, elicitingCalls, standsStill } from "../../core/session/waiting-calls.ts";
import type { ApprovalDesk } from "../approvals/approval-desk.ts";
import { PendingQuestions, type QuestionDeps } from "../approvals/put-question.ts";
import { lateAnswers } from "../calls/late-answers.ts";
import { settleRunningCalls } from "../calls/settle-work.ts";
import type { ToolCalls } from "../calls/tool-calls.ts";
import type { EngineSlot } from "../engine/engine-slot.ts";
import type { SessionHelpers } from "../session-deps.ts";
import { Revival, type RevivalDeps } from "./approval-resume.ts";
import type { CurrentTurn } from "./current-turn.ts";
import { isPaused } from "./turn-state.ts";
import type { TurnSteps } from "./turn-steps.ts";

/**
 * Questions about several calls of one answer arrive a moment apart, and are best named together. Nothing depends on it:
 * another `session.status_idle` names a question that arrives later.
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

interface Parts {
  readonly current: CurrentTurn;
  readonly steps: TurnSteps;
  readonly desk: ApprovalDesk;
  readonly engine: EngineSlot;
  readonly calls: ToolCalls;
}

type Deps = RevivalDeps & QuestionDeps & Pick<SessionHelpers, "userHooks">;

/**
 * The pauses of a session's turns, in which nothing moves until a person answers. The log says that a turn is paused, so
 * a pause needs no process and survives every one. It ends when an answer is stored.
 */
export class Pauses {
  readonly #deps: Deps;
  readonly #parts: Parts;
  readonly #revival: Revival;
  readonly #questions: PendingQuestions;
  #still: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  /** How often in a row a process was lost that had an answer to act on. */
  #losses = 0;

  constructor(deps: Deps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#revival = new Revival(deps, parts);
    this.#questions = new PendingQuestions(deps, {
      needsPerson: (approval) => parts.calls.needsPerson(approval),
      onAnswer: () => this.wake().catch(this.#onFailure),
    });
    parts.current.onStir(() => this.#restartPause());
  }

  readonly #onFailure = (thrown: unknown): void => this.#parts.steps.fail(thrown);

  /** A revival does the work of the turn: its processes run what waited, and take no message. */
  get isReviving(): boolean {
    return this.#parts.current.turn?.worker === "revival";
  }

  /** Something happened in the turn. If nothing else does for a moment, it may stand still. */
  #restartPause(): void {
    clearTimeout(this.#still);
    if (callsThatWait(this.#deps.log.state).length === 0) return;
    this.#still = setTimeout(() => void this.#pauseIfStill().catch(this.#onFailure), GATHER_MS);
  }

  /** A call got its outcome, so its process was not lost for nothing. */
  resetLosses(): void {
    this.#losses = 0;
  }

  /** True when this is the end of a process that works for a revival, and not of the turn itself. */
  takesEnd(end: TurnEnd): boolean {
    if (!this.#revival.isDriving) return false;
    this.#revival.endProcess(end);
    return true;
  }

  /** True when the turn waits for people, and so outlives its process. One that loses process after process does not. */
  async survives(lost: EventDraft<"capstan.process_lost">): Promise<boolean> {
    if (this.#parts.current.turn?.isStopping !== false || askedCalls(this.#deps.log.state).length === 0) return false;
    this.#losses += 1;
    if (this.#losses > MAX_LOSSES) return false;
    await this.#hibernate(lost);
    await this.wake();
    return true;
  }

  /** Ends the process of a turn that waits for people. False when there is no such turn, or when it is being stopped. */
  async rest(): Promise<boolean> {
    const { current, engine } = this.#parts;
    const isOver = current.machine.is("idle", "interrupting", "limited", "ending");
    if (isOver || askedCalls(this.#deps.log.state).length === 0) return false;
    engine.kill();
    await this.#hibernate(undefined);
    this.#wakeLater();
    return true;
  }

  /** Takes over a turn that waited for people when its host died. False when there is no such turn. */
  async takeOver(lost: EventDraft<"capstan.process_lost">): Promise<boolean> {
    const { machine } = this.#parts.current;
    if (machine.is("idle") || askedCalls(this.#deps.log.state).length === 0) return false;
    await this.#hibernate(machine.is("hibernated") ? undefined : lost);
    await this.wake();
    await this.#questions.ask();
    return true;
  }

  /** Revives a turn without a process as soon as someone has answered. */
  async wake(): Promise<void> {
    const { current, steps } = this.#parts;
    const isOver = (): boolean => !current.machine.is("hibernated");
    if (isOver()) return;
    await this.#questions.look();
    if (!(await this.#revival.isReady())) return isOver() ? undefined : this.#wakeLater();
    // Two answers at the same time wake it twice; the second finds it awake.
    if (isOver()) return;
    const revived = current.begin("revive");
    const [stored] = await this.#deps.log.append((state) =>
      isPaused(state) ? [{ type: "session.status_running", goes_on: true }] : [],
    );
    if (current.turn !== revived) return;
    if (stored === undefined) return current.abort();
    void steps.run(async (isStopped) => {
      const { engine } = this.#parts;
      const found = await this.#revive();
      if (isStopped() || found === "gone" || current.turn !== revived) return;
      if (found === "ready") {
        await engine.open({ start: { kind: "continue" } });
        // From here on messages are for this process, and it gets those that were stored before.
        revived.worker = "process";
        return engine.give(await engine.pending());
      }
      await this.#hibernate(undefined);
      this.#wakeLater();
    });
  }

  /** A process that was lost while it started is lost like any other: the questions to people survive it. */
  async #revive(): Promise<Awaited<ReturnType<Revival["run"]>>> {
    try {
      return await this.#revival.run();
    } catch (thrown) {
      if (!(thrown instanceof CapstanError) || thrown.code !== "engine_failed") throw thrown;
      if (await this.survives({ type: "capstan.process_lost", reason: thrown.message, stderr: "" })) return "gone";
      throw thrown;
    }
  }

  /** The turn is being stopped: a revival begins nothing more. */
  stopReviving(): void {
    this.#revival.stop();
  }

  /** The turn is over: watches nothing any more, and ends whatever worked for a revival. */
  stop(): void {
    clearTimeout(this.#still);
    clearTimeout(this.#look);
    this.#questions.stop();
    this.#revival.letGo();
  }

  /** Stores that the session is idle, and for which answers it waits, if nobody in this host is asked and nothing moves. */
  async #pauseIfStill(): Promise<void> {
    const { log } = this.#deps;
    const { current, desk, engine } = this.#parts;
    // Another process may have stored an answer by now.
    await desk.look();
    await log.append((state) => {
      if (current.turn?.isStopping !== false) return [];
      const isNews = state.status === "running" || (isPaused(state) && !isNamed(state));
      return isNews && this.#isStill(state) ? [waitsFor(state)] : [];
    });
    if (!current.machine.is("waiting")) return;
    // A server's question can only be answered while its process is there and its call runs.
    if (elicitingCalls(log.state).length > 0) return current.place.leaveSlot();
    await current.place.release();
    engine.restLater();
  }

  #isStill(state: SessionState): boolean {
    const { calls, desk, engine } = this.#parts;
    if (this.#deps.userHooks.isLooking || calls.isDeciding || desk.attended || engine.requests > 0) return false;
    // Calls that a revival has not reached yet are answered already: it waits only where it has asked.
    return (!this.isReviving || desk.isAsking()) && standsStill(state);
  }

  /** The process is gone. Calls that ran get their outcome; calls that wait keep waiting. */
  async #hibernate(lost: EventDraft<"capstan.process_lost"> | undefined): Promise<void> {
    clearTimeout(this.#still);
    this.#revival.letGo();
    this.#parts.current.hibernate();
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
    this.#look = setTimeout(() => void this.wake().catch(this.#onFailure), LOOK_EVERY_MS).unref();
  }
}
