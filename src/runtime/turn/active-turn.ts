import type { LimitHit } from "../../core/session/session-limits.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CapstanError } from "../../core/errors.ts";

interface Surroundings {
  readonly clock: Clock;
  /** Milliseconds the turn may take, without the time people take to answer; undefined for no limit. */
  readonly limitMs: number | undefined;
  readonly onLate: (limitMs: number) => void;
  /** Called when it is over. */
  readonly onOver: () => void;
}

/** What is going on between `session.status_running` and the end of the turn. */
export class ActiveTurn {
  readonly over: Promise<void>;
  interrupted = false;
  limit: LimitHit | undefined;
  /** How often the engine has retried a model request. */
  retries = 0;
  /** Why the model could not be asked. */
  refusal: CapstanError | undefined;
  readonly #given: Surroundings;
  readonly #end: () => void;
  #left: number;
  #isOver = false;
  #timer: { readonly timeout: NodeJS.Timeout; readonly due: number } | undefined;

  constructor(given: Surroundings) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#given = given;
    this.#left = given.limitMs ?? 0;
    this.goOn();
  }

  /** It is to end, or it was let go: no further step is taken. */
  get isStopping(): boolean {
    return this.interrupted || this.limit !== undefined || this.#isOver;
  }

  /** Milliseconds since the epoch; undefined when the turn has no deadline. */
  get deadline(): number | undefined {
    return this.#timer?.due;
  }

  /** The deadline comes no nearer. */
  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer.timeout);
    this.#left = Math.max(0, this.#timer.due - this.#given.clock.now());
    this.#timer = undefined;
  }

  goOn(): void {
    const { limitMs, clock, onLate } = this.#given;
    if (limitMs === undefined || this.#timer !== undefined) return;
    this.#timer = { timeout: setTimeout(() => onLate(limitMs), this.#left), due: clock.now() + this.#left };
  }

  /** Lets go whoever waits for its end. */
  release(): void {
    this.#isOver = true;
    this.pause();
    this.#given.onOver();
    this.#end();
  }
}
