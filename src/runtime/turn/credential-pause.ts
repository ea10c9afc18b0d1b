import type { RefusedCredential } from "../../core/ports/gateway.ts";
import type { SessionErrorBody } from "../../core/events/events.ts";
import type { ActiveTurn } from "./current-turn.ts";
import type { SessionBasics } from "../session-deps.ts";

type Deps = Pick<SessionBasics, "log" | "clock">;

interface Expired extends RefusedCredential {
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * The pause of a turn whose credential has expired: its model requests are held until there is a new one. The log says so
 * when the first request waits, and again when none does. The log moves the turn to `held` and back, so its time does
 * not run meanwhile. The process stays.
 */
export class CredentialPause {
  readonly #deps: Deps;
  #waiting = 0;
  /** The last error that was stored: an upstream that can only retry is refused with the same words every time. */
  #said: { readonly turn: ActiveTurn | undefined; readonly expired: Expired } | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Resolves when it is stored, to a function to call when that request no longer waits. */
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
    return () => this.#end(turn);
  }

  async #end(turn: ActiveTurn | undefined): Promise<void> {
    this.#waiting -= 1;
    // The code that stops a turn writes its end.
    if (this.#waiting > 0 || turn?.isStopping !== false) return;
    await this.#deps.log.append(({ status }) =>
      status === "rescheduling" && !turn.isStopping ? [{ type: "session.status_running" }] : [],
    );
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
    message: `The model API no longer accepts the credential (${status}): ${message} The session is paused, and continues automatically when there is another one, for ${most} at most. ${remedy}`,
    retry_status: { type: "retrying" },
    code: "credential_expired",
    next_step: remedy,
    http_status: status,
    waits_until: new Date(until).toISOString(),
  };
}
