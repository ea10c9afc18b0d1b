import type { Cassette } from "../suite/cassette.ts";
import type { Fault } from "../suite/fault-schema.ts";

/** The port between a session and the model while a case runs: it records, replays and injects faults. */
export interface Tapes {
  /**
   * Routes the session's model requests through a tape until it is ended. Call this before its first message. `session`
   * is its name on the cassette: `case`, or `judge-1` and so on.
   */
  insert(sessionId: string, options: TapeOptions): Tape;
}

export interface TapeOptions {
  readonly session: string;
  /** Absent: nothing is replayed, and the model is asked. */
  readonly replay?: { readonly cassette: Cassette; readonly acceptDrift: boolean } | undefined;
  readonly record: boolean;
  readonly faults: readonly Fault[];
  /** For the `kill` fault: kills the agent's process. */
  readonly kill: () => Promise<void>;
  /**
   * The values of placeholders in this trial, such as `{ WORKSPACE: "/tmp/…" }`; the longest values are replaced first.
   */
  readonly places: Readonly<Record<string, string>>;
  /** Patterns in model input whose matches may vary. */
  readonly ignore: readonly RegExp[];
}

export interface Tape {
  /** The name of its session on the cassette. */
  readonly session: string;
  /** Requests that differ from the cassette, in the order they were detected. */
  readonly drifts: readonly Drift[];
  /** Differences from the cassette that are ignored, because such content varies or the case says so. */
  readonly ignored: readonly Ignored[];
  /** Answers of the cassette that were not requested. */
  readonly unplayed: readonly { readonly thread: string; readonly ordinal: number }[];
  /** Faults for requests that never came. */
  readonly unmet: readonly Fault[];
  /** Requests for which this is true get no answer, and are neither replayed nor recorded. */
  hold(isHeld: () => boolean): void;
  /** The turn was interrupted: the results of the calls that were running are not compared. */
  interrupt(): void;
  /** The threads that were recorded, and the texts they name. */
  recording(): Pick<Cassette, "threads" | "texts">;
  end(): void;
}

/** What varied in a request's input without counting as drift. */
export interface Ignored {
  readonly session: string;
  readonly thread: string;
  /** The request's number in the thread, from 1. */
  readonly ordinal: number;
  /** Such as `durations`, `dates and times`. */
  readonly kinds: readonly string[];
  /** A unified diff for people. */
  readonly diff: string;
}

/** One difference between a request and the recorded one. */
export interface Drift {
  readonly session: string;
  readonly thread: string;
  /** The request's number in the thread, from 1. */
  readonly ordinal: number;
  readonly what: "instructions" | "tools" | "model" | "settings" | "content" | "unrecorded";
  /** One line that describes it, such as `the tool Bash has another description`. */
  readonly summary: string;
  /** A unified diff for people; empty if there is nothing to compare with. */
  readonly diff: string;
}
