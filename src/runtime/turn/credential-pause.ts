import type { RefusedCredential } from "../../core/ports/gateway.ts";
import type { SessionErrorBody } from "../../core/events/events.ts";
import type { ActiveTurn } from "./active-turn.ts";
import type { SessionDeps } from "../session-deps.ts";

interface Expired extends RefusedCredential {
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * The pause of a turn whose credential has expired: its model requests are held until there is another one. It is said
 * in the log when the first of them waits, and again when none does. Its process stays, and the deadline comes no nearer.
 */
export class CredentialPause {
  readonly #deps: Pick<SessionDeps, "log" | "clock">;
  #waiting = 0;
  /** What was said last: an upstream that can only try again is refused with the same words every time. */
  #said: { readonly turn: ActiveTurn | undefined; readonly expired: Expired } | undefined;

  constructor(deps: Pick<SessionDeps, "log" | "clock">) {
    this.#deps = deps;
  }

  /** Resolves when it is said. What it resolves to is to be called when that request waits no more. */
  async begin(turn: ActiveTurn | undefined, expired: Expired): Promise<() => Promise<void>> {
    const { log, clock } = this.#deps;
    this.#waiting += 1;
    try {
      await log.append(({ status }) => {
        if (status !== "running") return [];
        const isNew = this.#said === undefined || this.#said.turn !== turn || !isSame(this.#said.expired, expired);
        this.#said = { turn, expired };
        const error = { type: "session.error", error: pauseError(expired, clock.now()) } as const;
        return [...(isNew ? [error] : []), { type: "session.status_rescheduled" }];
      });
    } catch (thrown) {
      this.#waiting -= 1;
      throw thrown;
    }
    // Only now: as long as the log says that it runs, whatever happens in the turn lets its time run.
    turn?.pause();
    return () => this.#end(turn);
  }

  async #end(turn: ActiveTurn | undefined): Promise<void> {
    this.#waiting -= 1;
    // The end of a turn that is to stop is said by whoever stops it.
    if (this.#waiting > 0 || turn?.isStopping !== false) return;
    await this.#deps.log.append(({ status }) =>
      status === "rescheduling" && !turn.isStopping ? [{ type: "session.status_running" }] : [],
    );
    if (!turn.isStopping) turn.goOn();
  }
}

function isSame(one: Expired, other: Expired): boolean {
  return one.until === other.until && one.status === other.status && one.message === other.message;
}

function pauseError({ status, message, remedy, until }: Expired, now: number): SessionErrorBody {
  const minutes = Math.max(1, Math.round((until - now) / 60_000));
  const most = minutes === 1 ? "a minute" : `${minutes} minutes`;
  return {
    type: "model_request_failed_error",
    message: `The model API no longer accepts the credential (${status}): ${message} The session is paused, and goes on by itself when there is another one, for ${most} at most. ${remedy}`,
    retry_status: { type: "retrying" },
    code: "credential_expired",
    next_step: remedy,
    http_status: status,
    waits_until: new Date(until).toISOString(),
  };
}
