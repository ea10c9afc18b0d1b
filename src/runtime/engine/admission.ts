import { CapstanError } from "../../core/errors.ts";

export interface Capacity {
  /** Turns that may be under way at the same time. */
  readonly maxTurns: number;
  /** Turns that may wait for a slot. */
  readonly maxQueue: number;
  /** Whether the machine's memory and processors can take on another turn. */
  readonly hasRoom: () => boolean;
}

interface Waiter {
  readonly hasStopped: () => boolean;
  /** False: it does not get a slot, because nobody needs it any more. */
  readonly enter: (isIn: boolean) => void;
}

/** How often a full machine, and turns that may have been stopped, are checked again. */
const LOOK_EVERY_MS = 200;
/** In seconds: a rough guess of how long turns take. */
const COME_BACK_AFTER = 5;

/**
 * Decides which turns of a host run and which wait, so that many sessions do not overload the machine. Projects take
 * turns, so a project with many turns does not keep the others waiting.
 */
export class Admission {
  readonly #capacity: Capacity;
  /** By project, in the order in which they are served. */
  readonly #waiting = new Map<string, Waiter[]>();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /** Turns that have a slot. */
  get running(): number {
    return this.#running;
  }

  /** Turns that wait. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether a process may start that no turn needs yet. */
  get hasRoomToWarm(): boolean {
    return this.waiting === 0 && this.#running < this.#capacity.maxTurns && this.#capacity.hasRoom();
  }

  /** Throws `too_many` when not even the queue has room for another turn. */
  requireRoom(): void {
    if (this.waiting < this.#capacity.maxQueue || (this.waiting === 0 && this.#isFree())) return;
    throw new CapstanError(
      "too_many",
      `${this.#running} turns are under way and ${this.waiting} wait for their place, as many as this host takes on. Try again in ${COME_BACK_AFTER} seconds, or raise server.capacity.max_queue.`,
      { data: { retryAfterSeconds: COME_BACK_AFTER }, retryable: true },
    );
  }

  /** Resolves to a function that gives the slot back; to undefined when `stopped` says that it is no longer needed. */
  async enter(project: string, hasStopped: () => boolean): Promise<(() => void) | undefined> {
    if (this.waiting > 0 || !this.#isFree()) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      this.#waiting.set(project, [...(this.#waiting.get(project) ?? []), { hasStopped, enter: resolve }]);
      this.#lookLater();
      if (!(await promise)) return undefined;
    } else this.#running += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#running -= 1;
      this.#look();
    };
  }

  /** An idle host always takes one turn, however busy the machine is: otherwise the turn might wait for ever. */
  #isFree(): boolean {
    if (this.#running === 0) return true;
    return this.#running < this.#capacity.maxTurns && this.#capacity.hasRoom();
  }

  #look(): void {
    this.#dropStopped();
    while (this.#waiting.size > 0 && this.#isFree()) this.#admitNext();
    this.#lookLater();
  }

  #admitNext(): void {
    for (const [project, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(project);
      if (others.length > 0) this.#waiting.set(project, others);
      if (first === undefined) continue;
      this.#running += 1;
      first.enter(true);
      return;
    }
  }

  #dropStopped(): void {
    for (const [project, waiters] of this.#waiting) {
      const wanted = waiters.filter(({ hasStopped, enter }) => {
        const isStopped = hasStopped();
        if (isStopped) enter(false);
        return !isStopped;
      });
      if (wanted.length > 0) this.#waiting.set(project, wanted);
      else this.#waiting.delete(project);
    }
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS);
  }
}
