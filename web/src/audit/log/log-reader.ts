import type { ClippedEvent } from "../../../../src/client/index.ts";

/** Events after one place, up to another: those of one page of the log. */
export type Read = (after: number, upTo: number) => Promise<readonly ClippedEvent[]>;

/** What a list of events is made of, however the log is read. */
export interface LogRows {
  readonly count: number;
  /** Undefined while it is being loaded. */
  event(index: number): ClippedEvent | undefined;
  /** Where the event stands, or the one before it; -1 for before all of them. */
  indexOf(seq: number): number;
  /** These rows are looked at: what is missing of them is loaded. */
  show(first: number, last: number): void;
  /** The next event in this direction; undefined when there is none. */
  next(seq: number, direction: 1 | -1): Promise<number | undefined>;
  /** The first or the last one. */
  edge(direction: 1 | -1): Promise<number | undefined>;
  /** The log has grown to this place. */
  grow(head: number): void;
  /** Goes to a place that may be far away. */
  seek(seq: number): void;
  /** How many rows came before those that were there: whoever looks at them must not lose their place. */
  readonly prepended: number;
  /** What of the log was looked through, where that is not all of it. */
  readonly looked: { readonly after: number; readonly upTo: number; readonly isPaused: boolean } | undefined;
  /** Goes on after a pause. */
  lookFurther(): void;
  readonly problem: unknown;
  retry(): void;
  /** For React: tells of changes, and which state this is. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly version: () => number;
}

/** What changes, and tells so. */
export class Changing {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  protected changed(): void {
    this.#version += 1;
    for (const tell of this.#listeners) tell();
  }
}
