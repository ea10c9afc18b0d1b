import type { Cassette } from "../suite/cassette.ts";
import type { Fault } from "../suite/fault-schema.ts";

/** The port for what stands between a session and the model while a case runs: it records, replays and injects faults. */
export interface Tapes {
  /**
   * From now on the session's model requests go through a tape, until that is ended. To be called before its first
   * message. `session` is its name on the cassette: `case`, or `judge-1` and so on.
   */
  insert(sessionId: string, options: TapeOptions): Tape;
}

export interface TapeOptions {
  readonly session: string;
  /** Absent: nothing is replayed, and the model is asked. */
  readonly replay?: { readonly cassette: Cassette; readonly acceptDrift: boolean } | undefined;
  readonly record: boolean;
  readonly faults: readonly Fault[];
  /** For the fault of that name: kills the agent's process. */
  readonly kill: () => Promise<void>;
  /** What placeholders stand for in this trial, such as `{ WORKSPACE: "/tmp/…" }`; longest values first when replaced. */
  readonly places: Readonly<Record<string, string>>;
  /** Patterns in what the model is told whose matches may vary. */
  readonly ignore: readonly RegExp[];
}

export interface Tape {
  /** The name of its session on the cassette. */
  readonly session: string;
  /** What was asked otherwise than on the cassette, in the order it was noticed. */
  readonly drifts: readonly Drift[];
  /** What differed from the cassette and does not count, because it varies by itself or the case says so. */
  readonly ignored: readonly Ignored[];
  /** Answers of the cassette that nobody asked for. */
  readonly unplayed: readonly { readonly thread: string; readonly ordinal: number }[];
  /** Faults for requests that never came. */
  readonly unmet: readonly Fault[];
  /** Requests for which this is true get no answer, and are neither played nor recorded. */
  hold(isHeld: () => boolean): void;
  /** The turn was interrupted: the results of the calls that were running are not compared. */
  interrupt(): void;
  /** The threads that were recorded, and the texts they name. */
  recorded(): Pick<Cassette, "threads" | "texts">;
  end(): void;
}

/** What varied in what a request told the model, and is no drift. */
export interface Ignored {
  readonly session: string;
  readonly thread: string;
  /** Which request of the thread, from 1. */
  readonly ordinal: number;
  /** Such as `durations`, `dates and times`. */
  readonly kinds: readonly string[];
  /** A unified diff for people. */
  readonly diff: string;
}

/** One difference between a request and the one that was recorded. */
export interface Drift {
  readonly session: string;
  readonly thread: string;
  /** Which request of the thread, from 1. */
  readonly ordinal: number;
  readonly what: "instructions" | "tools" | "model" | "settings" | "content" | "unrecorded";
  /** One line that names it, such as `the tool Bash has another description`. */
  readonly summary: string;
  /** A unified diff for people; empty when there is nothing to compare with. */
  readonly diff: string;
}
