import { CapstanError } from "../../core/errors.ts";

export interface Capacity {
  /** Turns that may be under way at the same time. */
  readonly maxTurns: number;
  /** Turns that may wait for a place. */
  readonly maxQueue: number;
  /** Whether the machine's memory and processors can take on another turn. */
  readonly hasRoom: () => boolean;
}

interface Waiter {
  readonly stopped: () => boolean;
  /** With false it was not let in: nobody wants it any more. */
  readonly enter: (isIn: boolean) => void;
}

/** How soon a machine that was full, or a turn that is to stop, is looked at again. */
const LOOK_EVERY_MS = 200;
/** In seconds. Turns take this long, roughly; nobody knows. */
const COME_BACK_AFTER = 5;

/**
 * Which turns of a host are under way and which wait, so that many sessions do not bring the machine down. Projects take
 * their places in turn, and one that asks for many keeps no other waiting.
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

  /** Turns under way. */
  get running(): number {
    return this.#running;
  }

  /** Turns that wait. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether a process may be started that no turn needs yet. */
  get hasRoomToWarm(): boolean {
    return this.waiting === 0 && this.#running < this.#capacity.maxTurns && this.#capacity.hasRoom();
  }

  /** Rejects with `too_many` when another turn could not even wait. */
  requireRoom(): void {
    if (this.waiting < this.#capacity.maxQueue || (this.waiting === 0 && this.#isFree())) return;
    throw new CapstanError(
      "too_many",
      `${this.#running} turns are under way and ${this.waiting} wait for their place, as many as this host takes on. Try again in ${COME_BACK_AFTER} seconds, or raise server.capacity.max_queue.`,
      { data: { retryAfterSeconds: COME_BACK_AFTER }, retryable: true },
    );
  }

  /** Resolves to what gives the place back; to undefined when `stopped` says that it is not wanted any more. */
  async enter(project: string, stopped: () => boolean): Promise<(() => void) | undefined> {
    if (this.waiting > 0 || !this.#isFree()) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      this.#waiting.set(project, [...(this.#waiting.get(project) ?? []), { stopped, enter: resolve }]);
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

  /** A host that does nothing takes on one turn, whatever the machine is busy with: it would wait for ever. */
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
      const wanted = waiters.filter(({ stopped, enter }) => {
        const isStopped = stopped();
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
