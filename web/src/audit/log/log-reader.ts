import type { ClippedEvent } from "../../../../src/client/index.ts";

/** Reads one page of the log: events after one seq, up to another. */
export type Read = (after: number, upTo: number) => Promise<readonly ClippedEvent[]>;

/** The rows of an event list, however the log is read. */
export interface LogRows {
  readonly count: number;
  /** Undefined while it is loading. */
  event(index: number): ClippedEvent | undefined;
  /** The row of the event or of the one before it; -1 before the first. */
  indexOf(seq: number): number;
  /** Reports the visible rows, so that missing ones are loaded. */
  show(first: number, last: number): void;
  /** The next event in this direction, if any. */
  next(seq: number, direction: 1 | -1): Promise<number | undefined>;
  /** The first or last event. */
  edge(direction: 1 | -1): Promise<number | undefined>;
  /** Reports that the log has grown to this seq. */
  grow(head: number): void;
  /** Jumps to any seq. */
  seek(seq: number): void;
  /** How many rows were added above, so that the view can keep its position. */
  readonly prepended: number;
  /** The searched range, if it is not the whole log. */
  readonly looked: { readonly after: number; readonly upTo: number; readonly isPaused: boolean } | undefined;
  /** Continues a paused search. */
  lookFurther(): void;
  readonly problem: unknown;
  retry(): void;
  /** For React: subscription and version. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly version: () => number;
}

/** Notifies its listeners of changes. */
export class Changing {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  protected notifyListeners(): void {
    this.#version += 1;
    for (const tell of this.#listeners) tell();
  }
}
