import { type LimitHit, limitOnTurn } from "../../core/session/session-limits.ts";
import type { EngineFact } from "../../core/ports/engine.ts";
import { ActiveTurn } from "./active-turn.ts";
import { CredentialPause } from "./credential-pause.ts";
import type { MeterHooks } from "../engine/meter.ts";
import type { SessionDeps } from "../session-deps.ts";
import { TurnPlace } from "./turn-slot.ts";

/** The place of the one turn under way. */
export class CurrentTurn {
  readonly #deps: SessionDeps;
  readonly #onLimit: (hit: LimitHit) => void;
  /** Its place among the turns of the host, and the directory it works in. */
  readonly place: TurnPlace;
  /** What its model requests come to. */
  readonly meterHooks: MeterHooks;
  #turn: ActiveTurn | undefined;

  /** `onLimit` stops whatever works for the turn; it is called once for a turn. */
  constructor(deps: SessionDeps, onLimit: (hit: LimitHit) => void) {
    this.#deps = deps;
    this.#onLimit = onLimit;
    this.place = new TurnPlace(deps);
    const pause = new CredentialPause(deps);
    this.meterHooks = {
      onLimit: (hit) => this.reachLimit(hit),
      onRefusal: (error) => {
        if (this.#turn !== undefined) this.#turn.refusal ??= error;
      },
      onExpired: (expired) => pause.begin(this.#turn, expired),
    };
  }

  get turn(): ActiveTurn | undefined {
    return this.#turn;
  }

  countRetry(fact: EngineFact): void {
    if (this.#turn !== undefined && fact.kind === "event" && fact.draft.type === "session.error")
      this.#turn.retries += 1;
  }

  /** The limit that another turn would be over. */
  limit(): LimitHit | undefined {
    return limitOnTurn(this.#deps.record.agent.budget, this.#deps.log.state);
  }

  begin(): void {
    const { record, clock, userHooks } = this.#deps;
    userHooks.begin();
    const limitMs = record.agent.budget.deadline_ms;
    const onLate = (limit: number): void => this.reachLimit({ which: "deadline", limit, spent: limit });
    this.#turn = new ActiveTurn({ clock, limitMs, onLate, onOver: () => void this.place.release() });
  }

  reachLimit(hit: LimitHit): void {
    if (this.#turn === undefined || this.#turn.limit !== undefined) return;
    this.#turn.limit = hit;
    this.#onLimit(hit);
  }

  /** The turn is over for everybody but the caller, who writes its end. */
  take(): ActiveTurn | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    return turn;
  }

  /** Lets the turn go without a word in the log. */
  abort(): void {
    this.take()?.release();
  }
}
