import { CapstanError } from "../../core/errors.ts";
import type { SessionEvent } from "../../core/events/events.ts";
import { inTurn, type SessionState } from "../../core/session/state.ts";

/** What the turn of a session is doing, as seen by the host that has the session. */
export const TURN_STATES = {
  idle: "There is no turn.",
  starting: "Waits for its directory and for a slot among the host's turns. Its time does not run yet.",
  running: "The engine works.",
  waiting: "Nothing moves until a person answers. The process is still there.",
  held: "Model requests wait for a new credential. The process is still there.",
  interrupting: "Someone asked to stop it. The engine is told to stop.",
  limited: "It reached a limit. The engine is told to stop.",
  ending: "Its end is being written.",
  hibernated: "Waits for a person without a process. The log alone remembers it.",
  abandoned: "The log has a turn that no host drives: its host died, or could not write the log.",
} as const;

export type TurnState = keyof typeof TURN_STATES;

/** States in which this host drives the turn. The others are what the log says, except `ending`. */
export const DRIVEN = ["starting", "running", "waiting", "held", "interrupting", "limited"] as const;

type Moves = Partial<Record<TurnState, TurnState>>;

function from(states: readonly TurnState[], to: TurnState): Moves {
  return Object.fromEntries(states.map((state) => [state, to]));
}

/** What the host does with a turn. A command is an error in a state that it does not list. */
export const COMMANDS = {
  /** A message or a compaction begins a turn. */
  start: from(["idle"], "starting"),
  /** A turn whose host died continues here. */
  recover: from(["abandoned"], "starting"),
  /** Someone answered a turn that has no process. */
  revive: from(["hibernated"], "starting"),
  /** It has its directory and its slot. */
  work: from(["starting"], "running"),
  interrupt: from(["starting", "running", "waiting", "held", "limited"], "interrupting"),
  limit: from(["starting", "running", "waiting", "held"], "limited"),
  /** Its end is about to be written. */
  end: from([...DRIVEN, "hibernated", "abandoned"], "ending"),
  /** This host lets go of it, and the log has no turn: it is over, or its start was never stored. */
  finish: from([...DRIVEN, "ending"], "idle"),
  /** This host lets go of it while people are asked. */
  hibernate: from([...DRIVEN, "ending", "abandoned"], "hibernated"),
  /** This host lets go of it because the log could not be written. */
  lose: from([...DRIVEN, "ending", "hibernated"], "abandoned"),
} as const satisfies Record<string, Moves>;

/**
 * What the log says about a turn. A fact is stored already, so it is never an error: in a state that it does not list
 * it changes nothing. For example, a question may be stored while the turn is already being stopped.
 */
export const FACTS = {
  /** `session.status_idle` that requires action. */
  wait: { running: "waiting", abandoned: "hibernated" },
  /** `session.status_running`. */
  resume: { waiting: "running", held: "running", hibernated: "abandoned" },
  /** `session.status_rescheduled`. */
  hold: { running: "held", hibernated: "abandoned" },
} as const satisfies Record<string, Moves>;

export type TurnCommand = keyof typeof COMMANDS;
export type TurnFact = keyof typeof FACTS;

/** The log says that the turn waits for a person. */
export function isPaused(state: SessionState): boolean {
  return state.status === "idle" && inTurn(state);
}

/** The state of a turn that this host does not drive. */
export function undrivenState(state: SessionState): "idle" | "hibernated" | "abandoned" {
  return isPaused(state) ? "hibernated" : inTurn(state) ? "abandoned" : "idle";
}

type Listener = (to: TurnState) => void;

/** The one place that knows what a session's turn is doing. Every part asks it, and every change goes through it. */
export class TurnMachine {
  #state: TurnState;
  readonly #listeners: Listener[] = [];

  constructor(initial: TurnState) {
    this.#state = initial;
  }

  get state(): TurnState {
    return this.#state;
  }

  is(...states: readonly TurnState[]): boolean {
    return states.includes(this.#state);
  }

  can(command: TurnCommand): boolean {
    return next(COMMANDS[command], this.#state) !== undefined;
  }

  /** Throws when the state does not allow the command. */
  apply(command: TurnCommand): void {
    const to = next(COMMANDS[command], this.#state);
    if (to === undefined)
      throw new CapstanError(
        "engine_failed",
        `A turn that is ${this.#state} cannot ${command}. This is a bug in Capstan: report it with the session's log.`,
      );
    this.#enter(to);
  }

  /** Follows what was just stored in the log. */
  follow(event: SessionEvent): void {
    const fact = factOf(event);
    const to = fact === undefined ? undefined : next(FACTS[fact], this.#state);
    if (to !== undefined) this.#enter(to);
  }

  /** Listeners are called in the order in which they were added, after the change. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #enter(to: TurnState): void {
    this.#state = to;
    for (const listener of this.#listeners) listener(to);
  }
}

function next(moves: Moves, state: TurnState): TurnState | undefined {
  return moves[state];
}

function factOf(event: SessionEvent): TurnFact | undefined {
  if (event.type === "session.status_running") return "resume";
  if (event.type === "session.status_rescheduled") return "hold";
  return event.type === "session.status_idle" && event.stop_reason.type === "requires_action" ? "wait" : undefined;
}
