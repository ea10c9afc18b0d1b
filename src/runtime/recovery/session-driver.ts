import { setTimeout as sleep } from "node:timers/promises";
import { CapstanError } from "../../core/errors.ts";
import type { OpenSessions, RuntimeDeps } from "../open-sessions.ts";
import type { DrivenSession } from "../session.ts";

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Called with a session that cannot continue; it is tried again later. */
  readonly onProblem: (sessionId: string, error: unknown) => void;
}

interface AttendanceDeps extends Pick<RuntimeDeps, "clock" | "hibernateAfterMs" | "processes"> {
  readonly listAbandoned: () => Promise<readonly string[]>;
  readonly takeOver: (sessionId: string) => Promise<DrivenSession>;
}

const LOOK_EVERY_MS = 1_000;
/** Reading the memory of all processes blocks the host for milliseconds. */
const RECYCLE_EVERY_LOOKS = 10;
/** How long to leave a session alone that could not continue; doubled after each failure. */
const RETRY_AFTER_MS = 10_000;
const RETRY_AT_MOST_MS = 600_000;
/** A session without a process is released when nobody has used it for this long. */
const LEAVE_AFTER_MS = 30_000;
/** How often a host that is being stopped checks whether its turns have ended. */
const SUSPEND_LOOK_MS = 50;

/** Decides which sessions a host drives, and for how long. */
export class Attendance {
  readonly #open: OpenSessions;
  readonly #deps: AttendanceDeps;
  readonly #coming = new Map<string, Promise<DrivenSession>>();
  /** When each session was last used, in milliseconds since the epoch. */
  readonly #wantedAt = new Map<string, number>();
  readonly #failures = new Map<string, { readonly count: number; readonly until: number }>();
  #isEnding = false;

  constructor(open: OpenSessions, deps: AttendanceDeps) {
    this.#open = open;
    this.#deps = deps;
  }

  async attend(sessionId: string): Promise<DrivenSession> {
    if (this.#isEnding)
      throw new CapstanError("session_ended", "This host is being stopped. Try again when it is back.", {
        retryable: true,
      });
    this.#wantedAt.set(sessionId, this.#deps.clock.now());
    const driven = this.#open.get(sessionId);
    if (driven !== undefined && driven.closing === undefined) return driven;
    const coming = this.#coming.get(sessionId) ?? this.#takeOver(sessionId);
    this.#coming.set(sessionId, coming);
    try {
      return await coming;
    } finally {
      this.#coming.delete(sessionId);
    }
  }

  async watch({ signal, onProblem }: WatchOptions): Promise<void> {
    for (let looks = 1; !signal.aborted; looks += 1) {
      // If the store is busy for a moment, the next look finds them.
      for (const id of await this.#deps.listAbandoned().catch(() => []))
        await this.#goOnWith(id).catch((thrown: unknown) => onProblem(id, thrown));
      await this.#leaveIdle(onProblem);
      if (looks % RECYCLE_EVERY_LOOKS === 0) this.#deps.processes.recycle();
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  async suspend(graceMs: number): Promise<void> {
    this.#isEnding = true;
    const until = this.#deps.clock.now() + graceMs;
    const isBusy = (): boolean => this.#open.all().some(({ state }) => state.status === "running");
    while (isBusy() && this.#deps.clock.now() < until) await sleep(SUSPEND_LOOK_MS);
    await Promise.allSettled(this.#coming.values());
    await Promise.allSettled(this.#open.all().map((session) => session.leave()));
  }

  async #takeOver(sessionId: string): Promise<DrivenSession> {
    await this.#open.get(sessionId)?.closing;
    return this.#open.get(sessionId) ?? this.#deps.takeOver(sessionId);
  }

  async #goOnWith(sessionId: string): Promise<void> {
    const now = this.#deps.clock.now();
    const { count, until } = this.#failures.get(sessionId) ?? { count: 0, until: 0 };
    if (until > now) return;
    try {
      await this.attend(sessionId);
      this.#failures.delete(sessionId);
    } catch (thrown) {
      const wait = Math.min(RETRY_AFTER_MS * 2 ** count, RETRY_AT_MOST_MS);
      this.#failures.set(sessionId, { count: count + 1, until: now + wait });
      throw thrown;
    }
  }

  /** A session without a process costs nothing, but others cannot drive it. */
  async #leaveIdle(onProblem: WatchOptions["onProblem"]): Promise<void> {
    const before = this.#deps.clock.now() - Math.min(LEAVE_AFTER_MS, this.#deps.hibernateAfterMs);
    for (const session of this.#open.all()) {
      const wantedAt = this.#wantedAt.get(session.id) ?? this.#deps.clock.now();
      const isIdle = !session.isAtWork && session.state.status === "idle";
      if (isIdle && wantedAt < before) await session.leave().catch((thrown: unknown) => onProblem(session.id, thrown));
      else this.#wantedAt.set(session.id, wantedAt);
    }
    for (const id of this.#wantedAt.keys()) if (this.#open.get(id) === undefined) this.#wantedAt.delete(id);
  }
}
