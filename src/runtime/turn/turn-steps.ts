import type { TurnEnd } from "../../core/ports/engine.ts";
import type { CapstanError } from "../../core/errors.ts";
import type { EngineSlot } from "../engine/engine-slot.ts";
import type { CurrentTurn } from "./current-turn.ts";
import { asError, type EndDeps, failedEnd, writeTurnEnd } from "./turn-end.ts";

/** One piece of a turn's work. After every pause it asks whether the turn was stopped meanwhile. */
export type Step = (isStopping: () => boolean) => Promise<void>;

interface Parts {
  readonly current: CurrentTurn;
  readonly engine: EngineSlot;
  /** Called when the log cannot be written: nothing may continue without it. */
  readonly onFailure: (error: CapstanError) => void;
}

export const INTERRUPTED: TurnEnd = { outcome: "interrupted", usage: {} };
export const COMPLETED: TurnEnd = { outcome: "completed", usage: {} };

/** Takes the steps of a session's turns, and ends them. */
export class TurnSteps {
  readonly #deps: EndDeps;
  readonly #parts: Parts;

  constructor(deps: EndDeps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** A turn that is being stopped takes no further step; a step that fails ends it. Never rejects. */
  async run(step: Step): Promise<void> {
    const { current, engine } = this.#parts;
    const { turn } = current;
    const isStopping = (): boolean => turn?.isStopping === true;
    try {
      if (!isStopping()) await current.place.take(isStopping);
      if (!isStopping() && current.turn === turn && current.machine.can("work")) current.machine.apply("work");
      if (!isStopping()) await step(isStopping);
      if (!isStopping() || current.turn !== turn) return;
      await engine.interrupt();
      if (current.turn === turn) await this.end(INTERRUPTED);
    } catch (thrown) {
      // The turn ended meanwhile, and another may be under way.
      if (turn !== undefined && current.turn !== turn) return;
      // A process that was stopped while it started reports that as a failure.
      await this.end(isStopping() ? INTERRUPTED : failedEnd(thrown)).catch((failure: unknown) => this.fail(failure));
    }
  }

  /** Writes the end of the turn, once: outcomes for what is open, then why it stopped, then idle. */
  async end(end: TurnEnd): Promise<void> {
    const { current, engine } = this.#parts;
    // An engine may report an end when no turn is under way. The log then gets only what is still open.
    const isTurn = current.machine.can("end");
    const turn = isTurn ? current.end() : undefined;
    // The engine would continue with messages that wait; they are for the next turn.
    if (end.outcome === "interrupted" && this.#deps.log.state.undelivered.length > 0) engine.kill();
    try {
      await writeTurnEnd(end, turn, this.#deps);
    } finally {
      // Also when the log cannot be written: nobody may wait for the turn, or for its slot, for ever.
      if (isTurn) current.finishEnding(turn);
    }
    // A process that has reached a limit of its own keeps to it; the next one counts anew. Not awaited: the process
    // itself may be the one that reports its end.
    if (end.outcome === "steps" || end.outcome === "budget") void engine.close().catch(() => {});
    else engine.restLater();
  }

  /** Stops everything at once and writes nothing; the next message settles what is open. */
  fail(thrown: unknown): void {
    const { current, engine, onFailure } = this.#parts;
    current.abort();
    engine.kill();
    onFailure(asError(thrown));
  }
}
